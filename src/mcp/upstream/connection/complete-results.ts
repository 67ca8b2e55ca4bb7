import type { Transport } from '@modelcontextprotocol/client'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'

/** A result that does not say of which type it is counts as a complete one, as in earlier revisions: there are servers that leave it out. */
export function completeResults(transport: Transport): void {
  const take = transport.onmessage
  transport.onmessage = (message, extra) => {
    const result: unknown = 'result' in message ? message.result : undefined
    if (!isPlainObject(result) || result['resultType'] !== undefined) return take?.(message, extra)
    // It was a message with a result, and stays one.
    take?.({ ...message, result: { ...result, resultType: 'complete' } } as typeof message, extra)
  }
}
