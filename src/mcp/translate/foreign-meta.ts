import type { JsonObject } from '../../contract/base/json.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'

/** Whether a key of `_meta` is the word of Handrail. */
export function isOwnMeta(key: string): boolean {
  return key.startsWith('handrail/')
}

/** What an upstream says, without what would pass for the word of Handrail in its `_meta`. */
export function withoutOwnMeta(said: JsonObject): JsonObject {
  const { _meta } = said
  if (!isPlainObject(_meta) || !Object.keys(_meta).some(isOwnMeta)) return said
  const kept = Object.entries(_meta).filter(([key]) => !isOwnMeta(key))
  return { ...said, _meta: Object.fromEntries(kept) }
}
