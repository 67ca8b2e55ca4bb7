import type { JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from './is-plain-object.ts'

/** Whether a value that was parsed as JSON, such as a part of a message, is an object. Its members are JSON then. */
export function isJsonObject(parsed: unknown): parsed is JsonObject {
  return isPlainObject(parsed)
}
