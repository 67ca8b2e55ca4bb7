import type { Notification, RequestOptions, ServerContext } from '@modelcontextprotocol/server'
import type { ClientRequest } from './open-call.ts'

/** What a request of a client brings to its call: of the context of the SDK, what a call needs. */
export interface CallContext {
  readonly mcpReq: Pick<
    ServerContext['mcpReq'],
    '_meta' | 'envelope' | 'inputResponses' | 'requestState' | 'signal'
  > & {
    notify(notification: Notification): Promise<void>
    /** Sends a request to the client. */
    send(
      request: { method: ClientRequest['method']; params: Record<string, unknown> },
      options: RequestOptions,
    ): Promise<unknown>
  }
}
