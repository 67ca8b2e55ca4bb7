import type { JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from './is-plain-object.ts'

/** Whether a value that was parsed as JSON, such as a part of a message, is an object. Its members are JSON then. */
export function isJsonObject(parsed: unknown): parsed is JsonObject {
  return isPlainObject(parsed)
}

/** The object that was parsed as JSON; an empty one in the place of any other value. */
export function readJsonObject(parsed: unknown): JsonObject {
  return isJsonObject(parsed) ? parsed : {}
}
