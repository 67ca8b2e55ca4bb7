import type { JsonObject } from '../contract/json.ts'
import { dropInvisible } from '../kit/drop-invisible.ts'
import { withoutOwnMeta } from './foreign-meta.ts'

/** A tool as its server lists it, without letters that a model reads and nobody sees, and without what would pass for the word of Handrail. */
export function toBareTool(said: JsonObject): JsonObject {
  const { title, description } = said
  return {
    ...withoutOwnMeta(said),
    ...(typeof title === 'string' && { title: dropInvisible(title) }),
    ...(typeof description === 'string' && { description: dropInvisible(description) }),
  }
}
