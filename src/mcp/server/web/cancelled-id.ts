import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/server'

/** The request that this message cancels. A cancelled request gets no answer. */
export function cancelledId(message: JSONRPCMessage): RequestId | undefined {
  if (!('method' in message) || message.method !== 'notifications/cancelled') return undefined
  const id = message.params?.['requestId']
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}
