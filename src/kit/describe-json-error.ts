import { messageOf } from './message-of.ts'

/** Why a text is not JSON, on one line: where, or the place itself, which may hold line breaks. */
export function describeJsonError(error: unknown): string {
  return messageOf(error)
    .replace(/ is not valid JSON$/, '')
    .replace(/^(Unexpected token .*?), (?=[".])/s, '$1 in ')
    .replaceAll(/\s+/g, ' ')
}
