import type { JsonObject } from '../../contract/base/json.ts'
import { describeJsonIssue } from '../../kit/json/describe-json-issue.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { parseJson } from '../../kit/json/parse-json.ts'

/** A longer message is not read: what an agent says of one call is far below. */
const maxBytes = 32 * 1024 * 1024

/** The message of an agent from standard input; a string says what is wrong with it. */
export async function readMessage(input: AsyncIterable<Uint8Array>): Promise<JsonObject | string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of input) {
    bytes += piece.length
    if (bytes > maxBytes) return `it has more than ${maxBytes / 1024 / 1024} MiB`
    pieces.push(piece)
  }
  return parseMessage(pieces)
}

function parseMessage(pieces: readonly Uint8Array[]): JsonObject | string {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces))
  } catch {
    return 'it is not UTF-8'
  }
  try {
    const message = parseJson(text)
    return isPlainObject(message) ? message : 'it is not a JSON object'
  } catch {
    return text.trim() === ''
      ? 'there is none on standard input'
      : `it is not JSON at ${describeJsonIssue(text)}`
  }
}
