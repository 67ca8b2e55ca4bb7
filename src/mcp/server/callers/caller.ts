import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SessionOptions } from '../../../contract/runtime.ts'
import type { Refusal } from '../web/send-json.ts'

/** Who a request comes from. */
export interface Caller {
  /** The same for two requests of one caller, and for no other caller. */
  readonly key: string
  /** How its sessions of the runtime are opened. */
  readonly session: Omit<SessionOptions, 'approve' | 'signal' | 'parent'>
  /** When what it showed holds no more, in milliseconds since the epoch; undefined for never. */
  readonly expiresAt: number | undefined
  /** Stands for all who reach the server, since it tells none apart. Default false. */
  readonly isAnybody?: boolean
  /** Whether it may read the metrics of all tenants. Default false. */
  readonly readsMetrics?: boolean
  /** Whether it may see and answer what waits for a person, of its tenant; or why it may not. Default: it may not. */
  readonly decides?: true | Refusal
}

/** A request of a caller, and where its answer goes. */
export interface AuthenticatedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly caller: Caller
}

/** Reports the caller of a request, or why no caller is served for it. */
export interface Callers {
  identify(request: IncomingMessage): Promise<Caller | Refusal>
  /** Whether a caller that was identified before could still be identified. */
  stands(caller: Caller): boolean
  /** What clients are told about where tokens come from (RFC 9728); undefined without such a place. */
  readonly resourceMetadata: { readonly path: string; readonly document: object } | undefined
}

export function isCaller(found: Caller | Refusal): found is Caller {
  return 'key' in found
}
