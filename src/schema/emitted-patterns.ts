import type { JsonObject } from '../contract/base/json.ts'
import { isKeywords, type Keywords } from './base/is-keywords.ts'
import { mapChildren } from './base/keyword-children.ts'

/** What zod shows of each of its schemas before it goes into the whole. */
interface ZodPart {
  readonly zodSchema: { readonly _zod: { readonly def: ZodDefinition } }
  readonly jsonSchema: Record<string, unknown>
}

interface ZodDefinition {
  readonly type?: string
  readonly pattern?: unknown
  readonly checks?: readonly { readonly _zod?: { readonly def?: { readonly pattern?: unknown } } }[]
}

/** Options of zod's converter: a pattern that means something else without its flags is left to zod, which checks every value too. */
export const zodOptions = {
  override({ zodSchema, jsonSchema }: ZodPart): void {
    const { type, pattern, checks = [] } = zodSchema._zod.def
    if (type === 'file') throw new Error('JSON has no files.')
    const patterns = [pattern, ...checks.map((check) => check._zod?.def?.pattern)]
    if (!patterns.some((each) => each instanceof RegExp && /[ims]/.test(each.flags))) return
    delete jsonSchema['pattern']
    // Where there are several, they stand in here.
    delete jsonSchema['allOf']
  },
}

/** A schema without patterns, for libraries that leave out the flags of theirs: they check every value too. */
export function withoutPatterns(schema: JsonObject): JsonObject {
  // A part of JSON is JSON.
  return dropPatterns(schema) as JsonObject
}

function dropPatterns(schema: Keywords): Record<string, unknown> {
  const { pattern: _, ...others } = schema
  return mapChildren(others, (child) => (isKeywords(child) ? dropPatterns(child) : child))
}
