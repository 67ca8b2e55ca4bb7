import { isKeywords, type Keywords } from './is-keywords.ts'
import { limits } from './limits.ts'
import { fullKeywords, olderKeywords, plainKeywords, subsetKeywords, type Below } from './keywords.ts'

/** A copy of a schema with every schema directly below it replaced; keywords that Handrail does not know are left out. */
export function mapChildren(
  schema: Keywords,
  change: (child: unknown, keyword: string) => unknown,
): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    const below = subsetKeywords.get(keyword) ?? fullKeywords.get(keyword)
    if (below !== undefined && value !== undefined)
      copy[keyword] = mapValue(below, value, (child) => change(child, keyword))
  }
  return copy
}

function mapValue(below: Below, value: unknown, change: (child: unknown) => unknown): unknown {
  if (below === 'schema') return change(value)
  if (below === 'list' && Array.isArray(value)) return value.map(change)
  if (below === 'map' && isKeywords(value))
    return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, change(child)]))
  return value
}

/** The schemas directly below one, of any draft. */
export function childrenOf(schema: Keywords): unknown[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    const below = subsetKeywords.get(keyword) ?? fullKeywords.get(keyword) ?? olderKeywords.get(keyword)
    if (below === 'schema' || below === 'list') return Array.isArray(value) ? value : [value]
    return (below === 'map' || keyword === 'dependencies') && isKeywords(value) ? Object.values(value) : []
  })
}

/**
 * Whether a schema, or one below it, says something that the subset cannot say, or not in these words. True for one that is too large or
 * too deep to be looked at.
 */
export function usesMoreThanSubset(schema: unknown): boolean {
  return findsMore(schema, { nodes: limits.schemaNodes, depth: 0 })
}

function findsMore(schema: unknown, room: { nodes: number; depth: number }): boolean {
  if (!isKeywords(schema) || --room.nodes <= 0 || room.depth > limits.depth) return true
  room.depth++
  const finds = Object.entries(schema).some(([keyword, value]) => saysMore(keyword, value, room))
  room.depth--
  return finds
}

function saysMore(keyword: string, value: unknown, room: { nodes: number; depth: number }): boolean {
  if (value === undefined || keyword === 'definitions') return false
  if (fullKeywords.has(keyword) || olderKeywords.has(keyword) || plainKeywords.has(keyword)) return true
  if (keyword.startsWith('exclusive')) return typeof value === 'boolean'
  if (keyword === 'additionalProperties' && typeof value === 'boolean') return false
  if (subsetKeywords.get(keyword) === 'schema') return findsMore(value, room)
  return (
    keyword === 'properties' &&
    isKeywords(value) &&
    Object.values(value).some((field) => findsMore(field, room))
  )
}
