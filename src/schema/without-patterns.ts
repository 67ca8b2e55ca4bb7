import type { JsonObject } from '../contract/base/json.ts'
import { isKeywords, type Keywords } from './base/is-keywords.ts'
import { mapChildren } from './base/keyword-children.ts'

/** A schema without patterns, for libraries that leave out the flags of theirs: they check every value too. */
export function withoutPatterns(schema: JsonObject): JsonObject {
  // A part of JSON is JSON.
  return dropPatterns(schema) as JsonObject
}

function dropPatterns(schema: Keywords): Record<string, unknown> {
  const { pattern: _, ...others } = schema
  return mapChildren(others, (child) => (isKeywords(child) ? dropPatterns(child) : child))
}
