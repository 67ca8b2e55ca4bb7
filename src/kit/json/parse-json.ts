import type { Json } from '../../contract/base/json.ts'

/** The value of a JSON text. Throws a SyntaxError if the text is not JSON. */
export function parseJson(text: string): Json {
  return JSON.parse(text)
}
