import {
  ProtocolError,
  ProtocolErrorCode,
  SdkError,
  SdkErrorCode,
  type RequestId,
  type Result,
  type Server,
  type Transport,
} from '@modelcontextprotocol/server'
import type { CallContext } from './call-context.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { readCancellation } from '../web/read-cancellation.ts'
import { isPlainCall, isPlainResult, type PlainCall } from '../../translate/plain-messages.ts'

/** Where calls are taken and answered without the SDK, which reads each message several times. */
export interface PlainCalls {
  /** Takes a message that needs no SDK, and answers it over the transport. False: it is for the SDK. */
  take(message: unknown, transport: Pick<Transport, 'send'>): boolean
  /** Aborts what runs; it is not answered. */
  close(): void
}

export interface PlainCallsOptions {
  /** A client that shook hands is at its other end. Asks and notifies it, which is seldom. */
  readonly server: Server
  readonly serve: (call: PlainCall, context: CallContext) => Promise<Result>
  /** Holds a result to the schema of the SDK. Rejects with a protocol error. */
  readonly check: (call: PlainCall, result: Result) => Promise<Result>
  readonly log: (line: string) => void
}

export function createPlainCalls({ server, serve, check, log }: PlainCallsOptions): PlainCalls {
  const running = new Map<RequestId, AbortController>()

  async function answer(call: PlainCall, transport: Pick<Transport, 'send'>): Promise<void> {
    const { id } = call
    const controller = new AbortController()
    running.set(id, controller)
    const { signal } = controller
    try {
      const result = await serve(call, { mcpReq: toRequest(call, signal) })
      const checked = isPlainResult(result) ? result : await check(call, result)
      if (!signal.aborted) await transport.send({ result: checked, jsonrpc: '2.0', id })
    } catch (error) {
      if (!signal.aborted) await transport.send({ jsonrpc: '2.0', id, error: toError(error) })
    } finally {
      if (running.get(id) === controller) running.delete(id)
    }
  }
  function toRequest({ id, params: { _meta } }: PlainCall, signal: AbortSignal): CallContext['mcpReq'] {
    return {
      ...(_meta !== undefined && { _meta }),
      signal,
      requestState: () => undefined,
      notify: (notification) => server.notification(notification, { relatedRequestId: id }),
      send: (request, options) => server.request(request, { ...options, relatedRequestId: id }),
    }
  }
  return {
    take(message, transport) {
      if (isPlainCall(message)) {
        // Who did not shake hands yet is told by the SDK what to do.
        if (server.getClientCapabilities() === undefined) return false
        answer(message, transport).catch((error: unknown) =>
          log(`mcp: an answer could not be sent: ${String(error)}`),
        )
        return true
      }
      const cancelled = isPlainObject(message) ? readCancellation(message) : undefined
      const controller = cancelled && running.get(cancelled.id)
      controller?.abort(cancelled?.reason)
      return controller !== undefined
    },
    close() {
      const reason = new SdkError(SdkErrorCode.ConnectionClosed, 'Connection closed')
      for (const controller of running.values()) controller.abort(reason)
    },
  }
}

/** An error of the protocol as it is told. */
function toError(error: unknown): { code: number; message: string; data?: unknown } {
  if (!(error instanceof ProtocolError))
    return { code: ProtocolErrorCode.InternalError, message: 'Internal error' }
  const { code, message, data } = error
  return { code, message, ...(data !== undefined && { data }) }
}
