import type { Transport } from '@modelcontextprotocol/client'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'

/** A result that does not say of which type it is counts as a complete one, as in earlier revisions: there are servers that leave it out. */
export function completeResults(transport: Transport): void {
  const receive = transport.onmessage
  transport.onmessage = (message, extra) => {
    if (
      !('result' in message) ||
      !isPlainObject(message.result) ||
      message.result['resultType'] !== undefined
    )
      return receive?.(message, extra)
    receive?.({ ...message, result: { ...message.result, resultType: 'complete' } }, extra)
  }
}
