import type { RequestId } from '@modelcontextprotocol/server'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'

/** What a client says of a request that it cancels. */
export interface Cancellation {
  readonly id: RequestId
  readonly reason: unknown
}

/** The request that this message cancels. A cancelled request gets no answer. */
export function readCancellation(message: object): Cancellation | undefined {
  const { method, params }: { method?: unknown; params?: unknown } = message
  if (method !== 'notifications/cancelled' || !isPlainObject(params)) return undefined
  const { requestId: id, reason } = params
  return typeof id === 'string' || typeof id === 'number' ? { id, reason } : undefined
}
