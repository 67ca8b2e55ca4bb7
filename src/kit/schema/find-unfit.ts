import type { Issue } from '../../contract/base/json.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { canonicalJson } from '../json/canonical-json.ts'
import { pointerTo } from '../json/json-pointer.ts'
import { shorten } from '../text/shorten.ts'
import { kindsOf, narrowingRules } from './narrowing-rules.ts'

/**
 * Every place where a value that fits `given` may not fit `wanted`, by a pointer into the value. Empty only if every such value fits. Schemas that use
 * more than the subset fit if they are the same.
 */
export function findUnfit(given: JsonSchema, wanted: JsonSchema, pointer = ''): Issue[] {
  if (isSame(given, wanted)) return []
  const strange = findStrange(wanted) ?? findStrange(given)
  if (strange !== undefined)
    return [unfit(pointer, `what "${strange}" means there cannot be compared`, 'incomparable')]
  const rules = valueRules.flatMap((rule) =>
    rule.narrows(given, wanted) ? [unfit(pointer, describe(rule.keywords, given, wanted))] : [],
  )
  if (rules.length > 0) return rules
  const both = (kind: 'array' | 'object') => kindsOf(given).has(kind) && kindsOf(wanted).has(kind)
  return [
    ...(differInFormat(given, wanted) ? [unfit(pointer, describe(['format'], given, wanted))] : []),
    ...(both('array') ? findUnfit(given.items ?? {}, wanted.items ?? {}, pointerTo(pointer, '*')) : []),
    ...(both('object') ? findUnfitFields(given, wanted, pointer) : []),
  ]
}

/** What a value is when it is left out says nothing about a value that is there. */
const valueRules = narrowingRules.filter(({ keywords }) => !keywords.includes('default'))

/** The fields that an object may have, against those that are wanted. */
function findUnfitFields(given: JsonSchema, wanted: JsonSchema, pointer: string): Issue[] {
  const issues: Issue[] = []
  const { properties = {}, additionalProperties: others = true } = given
  for (const name of wanted.required ?? [])
    if (!(given.required ?? []).includes(name))
      issues.push(unfit(pointerTo(pointer, name), 'the field is required, and may be missing'))
  for (const [name, field] of Object.entries(properties)) {
    const place = pointerTo(pointer, name)
    const taken = fieldOf(wanted, name)
    if (taken === undefined) issues.push(unfit(place, 'the field is not taken', 'unknown_field'))
    else issues.push(...findUnfit(field, taken, place))
  }
  if (others === false) return issues
  return [...issues, ...findUnfitOthers(others === true ? {} : others, { given, wanted, pointer })]
}

/** Fields without a name in the given schema may be any that it does not name. */
function findUnfitOthers(
  others: JsonSchema,
  { given, wanted, pointer }: { given: JsonSchema; wanted: JsonSchema; pointer: string },
): Issue[] {
  const named = Object.entries(wanted.properties ?? {}).filter(
    ([name]) => !Object.hasOwn(given.properties ?? {}, name),
  )
  const issues = named.flatMap(([name, field]) => findUnfit(others, field, pointerTo(pointer, name)))
  const rest = wanted.additionalProperties ?? true
  if (rest === true) return issues
  if (rest === false)
    return [...issues, unfit(pointer, 'it may have fields that are not taken', 'unknown_field')]
  return [...issues, ...findUnfit(others, rest, pointerTo(pointer, '*'))]
}

function fieldOf(
  { properties, additionalProperties = true }: JsonSchema,
  name: string,
): JsonSchema | undefined {
  if (properties !== undefined && Object.hasOwn(properties, name)) return properties[name]
  if (additionalProperties === false) return undefined
  return additionalProperties === true ? {} : additionalProperties
}

function differInFormat(given: JsonSchema, wanted: JsonSchema): boolean {
  return wanted.format !== undefined && wanted.format !== given.format && kindsOf(given).has('string')
}

const structure = ['items', 'properties', 'required', 'additionalProperties', 'format', 'default'] as const
const annotations = ['title', 'description', 'examples', '$schema', '$id', '$comment', 'deprecated'] as const
const comparable: ReadonlySet<string> = new Set([
  ...narrowingRules.flatMap(({ keywords }) => keywords),
  ...structure,
  ...annotations,
  'readOnly',
  'writeOnly',
])

function findStrange(schema: JsonSchema): string | undefined {
  return Object.keys(schema).find((keyword) => !comparable.has(keyword) && !keyword.startsWith('x-'))
}

function isSame(given: JsonSchema, wanted: JsonSchema): boolean {
  return canonicalJson(given) === canonicalJson(wanted)
}

function describe(keywords: readonly (keyof JsonSchema)[], given: JsonSchema, wanted: JsonSchema): string {
  return keywords
    .filter((keyword) => canonicalJson(given[keyword] ?? null) !== canonicalJson(wanted[keyword] ?? null))
    .map((keyword) => `"${keyword}" is ${show(given[keyword])}, and has to be ${show(wanted[keyword])}`)
    .join('; ')
}

function show(value: unknown): string {
  return value === undefined ? 'not said' : shorten(JSON.stringify(value), 80)
}

function unfit(pointer: string, message: string, code = 'does_not_fit'): Issue {
  return { pointer, code, message }
}
