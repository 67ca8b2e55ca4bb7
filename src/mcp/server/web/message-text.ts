import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { ReadyJson } from '../session/ready-json.ts'

/** A message as JSON. */
export function messageText(message: object): string {
  return messageParts(message).join('')
}

/** A message as JSON, in parts; a list of tools, which may be megabytes, in those that all clients share. */
export function messageParts(message: object): readonly (string | Buffer)[] {
  const { result }: { result?: unknown } = message
  if (!isPlainObject(result) || !(result['tools'] instanceof ReadyJson)) return [JSON.stringify(message)]
  const { parts } = result['tools']
  const about = opened({ ...message, result: undefined })
  return [`${about}"result":${opened({ ...result, tools: undefined })}"tools":`, ...parts, '}}']
}

/** An object as JSON that another field can follow. */
function opened(fields: object): string {
  const text = JSON.stringify(fields).slice(0, -1)
  return text === '{' ? text : `${text},`
}
