import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { isKeywords, type Keywords } from '../base/is-keywords.ts'

const annotations: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'examples',
  'format',
  'x-classification',
])

/** Keywords that look at each other: a schema with one of them cannot take another one in from elsewhere. */
const groups: readonly ReadonlySet<string>[] = [
  new Set(['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties']),
  new Set(['items', 'prefixItems', 'unevaluatedItems', 'contains', 'minContains', 'maxContains']),
  new Set(['if', 'then', 'else']),
]

/**
 * One schema that means `outer` and `inner` together, as if they stood in an `allOf`; undefined if no single one does.
 * Descriptions are joined, and so are classifications; of other annotations the outer one stays.
 */
export function mergeSchemas(outer: Keywords, inner: Keywords): Record<string, unknown> | undefined {
  if (looksAround(outer, inner) || looksAround(inner, outer)) return undefined
  if (groups.some((group) => collides(group, outer, inner))) return undefined
  const merged: Record<string, unknown> = { ...inner, ...outer }
  for (const keyword of Object.keys(outer)) {
    if (inner[keyword] === undefined || outer[keyword] === undefined) continue
    const both = mergeKeyword(keyword, outer[keyword], inner[keyword])
    if (both === undefined) return undefined
    merged[keyword] = both.value
  }
  return merged
}

/** Whether a schema says nothing about values. */
export function isAnnotation(schema: Keywords): boolean {
  return Object.keys(schema).every((keyword) => annotations.has(keyword))
}

/** What a schema says about values, without its annotations. */
export function withoutAnnotations(schema: Keywords): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !annotations.has(keyword)))
}

/** A schema's annotations alone. */
export function annotationsOf(schema: Keywords): Record<string, unknown> {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => annotations.has(keyword)))
}

/** Whether a schema has `unevaluated…`, which depends on everything beside it. */
export function looksBeside(schema: Keywords): boolean {
  return schema['unevaluatedProperties'] !== undefined || schema['unevaluatedItems'] !== undefined
}

function looksAround(schema: Keywords, other: Keywords): boolean {
  return looksBeside(schema) && !isAnnotation(other)
}

function collides(group: ReadonlySet<string>, outer: Keywords, inner: Keywords): boolean {
  const left = Object.keys(outer).filter((keyword) => group.has(keyword))
  const right = Object.keys(inner).filter((keyword) => group.has(keyword))
  if (left.length === 0 || right.length === 0) return false
  const isFieldsOnly = [...left, ...right].every((keyword) => keyword === 'properties')
  return !isFieldsOnly && canonicalJson(pick(outer, left)) !== canonicalJson(pick(inner, right))
}

function pick(schema: Keywords, keywords: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, schema[keyword]]))
}

/** The value that says both; undefined if none does. */
function mergeKeyword(keyword: string, outer: unknown, inner: unknown): { value: unknown } | undefined {
  if (keyword === 'description' && outer !== inner) return { value: `${String(outer)}\n${String(inner)}` }
  if (keyword === 'x-classification') return { value: [...new Set([outer, inner].flat())] }
  if (annotations.has(keyword) || canonicalJson(outer) === canonicalJson(inner)) return { value: outer }
  if (Array.isArray(outer) && Array.isArray(inner)) {
    if (keyword === 'required') return { value: [...new Set([...outer, ...inner])] }
    if (keyword === 'allOf') return { value: [...outer, ...inner] }
  }
  if (keyword !== 'properties' || !isKeywords(outer) || !isKeywords(inner)) return undefined
  const isDisjoint = Object.keys(outer).every((name) => !Object.hasOwn(inner, name))
  return isDisjoint ? { value: { ...inner, ...outer } } : undefined
}
