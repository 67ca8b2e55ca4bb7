import type { JsonObject } from '../../contract/base/json.ts'
import { withoutOwnMeta } from './foreign-meta.ts'
import { withoutInvisible } from '../../kit/json/without-invisible.ts'

/**
 * A tool as its server lists it, without characters in its words that a model reads and no person sees, and without what would pass for
 * the word of Handrail.
 */
export function toPassthroughTool(said: JsonObject): JsonObject {
  return withoutInvisible(withoutOwnMeta(said))
}
