import type { Json } from '../../contract/base/json.ts'
import type { JsonSchema, JsonType } from '../../contract/base/schema.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'

/** What a value can be, so that every value is exactly one: whole numbers and others are apart. */
export type Kind = 'string' | 'integer' | 'fraction' | 'boolean' | 'null' | 'object' | 'array'

/** Some keywords, and whether they let a value of one schema down in another. */
export interface NarrowingRule {
  readonly keywords: readonly (keyof JsonSchema)[]
  /** True if a value that fits `from` may not fit `to` because of these keywords. Never false if one does not. */
  narrows(from: JsonSchema, to: JsonSchema): boolean
}

const everyKind: readonly Kind[] = ['string', 'integer', 'fraction', 'boolean', 'null', 'object', 'array']

/** The kinds of the values that a schema may take, no fewer. */
export function kindsOf(schema: JsonSchema): ReadonlySet<Kind> {
  const kinds = typeKinds(schema)
  const values = valuesOf(schema)
  return values === undefined ? kinds : new Set(values.map(kindOf).filter((kind) => kinds.has(kind)))
}

function typeKinds({ type, nullable }: JsonSchema): ReadonlySet<Kind> {
  if (type === undefined) return new Set(everyKind)
  const types: readonly JsonType[] = typeof type === 'string' ? [type] : type
  const kinds = new Set<Kind>(nullable === true ? ['null'] : [])
  for (const name of types) {
    if (name === 'number') kinds.add('integer').add('fraction')
    else kinds.add(name)
  }
  return kinds
}

function kindOf(value: Json): Kind {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
    case 'number':
      return Number.isInteger(value) ? 'integer' : 'fraction'
    default:
      return 'object'
  }
}

/** The only values that a schema may take, where `enum` or `const` name them. */
function valuesOf(schema: JsonSchema): readonly Json[] | undefined {
  const { enum: listed, const: fixed } = schema
  if (fixed === undefined) return listed
  if (listed === undefined) return [fixed]
  return listed.filter((value) => canonicalJson(value) === canonicalJson(fixed))
}

function narrowsType(from: JsonSchema, to: JsonSchema): boolean {
  const taken = typeKinds(to)
  return [...kindsOf(from)].some((kind) => !taken.has(kind))
}

function narrowsValues(from: JsonSchema, to: JsonSchema): boolean {
  const taken = valuesOf(to)
  if (taken === undefined) return false
  const given = valuesOf(from)
  if (given === undefined) return true
  const known = new Set(taken.map((value) => canonicalJson(value)))
  const kinds = typeKinds(from)
  return given.some((value) => kinds.has(kindOf(value)) && !known.has(canonicalJson(value)))
}

/** A default that goes away or changes changes what an omitted field means. */
function narrowsDefault(from: JsonSchema, to: JsonSchema): boolean {
  if (from.default === undefined) return false
  return to.default === undefined || canonicalJson(from.default) !== canonicalJson(to.default)
}

interface Bound {
  value: number
  exclusive: boolean
}

/** The lower bound; with `sign` -1 the upper one, mirrored. */
function boundOf(inclusive: number | undefined, exclusive: number | undefined, sign: 1 | -1): Bound {
  const least = inclusive === undefined ? Number.NEGATIVE_INFINITY : inclusive * sign
  const above = exclusive === undefined ? Number.NEGATIVE_INFINITY : exclusive * sign
  return above >= least ? { value: above, exclusive: true } : { value: least, exclusive: false }
}

function isTighter(bound: Bound, than: Bound): boolean {
  return bound.value > than.value || (bound.value === than.value && bound.exclusive && !than.exclusive)
}

function narrowsStep(from: JsonSchema, to: JsonSchema): boolean {
  if (to.multipleOf === undefined) return false
  if (to.multipleOf === 1 && !kindsOf(from).has('fraction')) return false
  const step = from.multipleOf
  if (step === undefined) return true
  return !Number.isSafeInteger(step) || !Number.isSafeInteger(to.multipleOf) || step % to.multipleOf !== 0
}

/** A rule that counts only for values of these kinds. */
function forKinds(
  kinds: readonly Kind[],
  keywords: NarrowingRule['keywords'],
  narrows: NarrowingRule['narrows'],
): NarrowingRule {
  return {
    keywords,
    narrows: (from, to) => kinds.some((kind) => kindsOf(from).has(kind)) && narrows(from, to),
  }
}

/** Counts that must not grow (`least`) or shrink (`most`). */
function forSizes(kind: Kind, least: SizeKeyword, most: SizeKeyword): NarrowingRule[] {
  return [
    forKinds([kind], [least], (from, to) => (to[least] ?? 0) > (from[least] ?? 0)),
    forKinds([kind], [most], (from, to) => (to[most] ?? Infinity) < (from[most] ?? Infinity)),
  ]
}

type SizeKeyword = 'minLength' | 'maxLength' | 'minItems' | 'maxItems' | 'minProperties' | 'maxProperties'

const numbers: readonly Kind[] = ['integer', 'fraction']

/** Everything that a schema says about a value but what stands below it. */
export const narrowingRules: readonly NarrowingRule[] = [
  { keywords: ['type', 'nullable'], narrows: narrowsType },
  { keywords: ['enum', 'const'], narrows: narrowsValues },
  { keywords: ['default'], narrows: narrowsDefault },
  forKinds(numbers, ['minimum', 'exclusiveMinimum'], (from, to) =>
    isTighter(boundOf(to.minimum, to.exclusiveMinimum, 1), boundOf(from.minimum, from.exclusiveMinimum, 1)),
  ),
  forKinds(numbers, ['maximum', 'exclusiveMaximum'], (from, to) =>
    isTighter(boundOf(to.maximum, to.exclusiveMaximum, -1), boundOf(from.maximum, from.exclusiveMaximum, -1)),
  ),
  forKinds(numbers, ['multipleOf'], narrowsStep),
  ...forSizes('string', 'minLength', 'maxLength'),
  forKinds(['string'], ['pattern'], (from, to) => to.pattern !== undefined && to.pattern !== from.pattern),
  ...forSizes('array', 'minItems', 'maxItems'),
  forKinds(['array'], ['uniqueItems'], (from, to) => to.uniqueItems === true && from.uniqueItems !== true),
  ...forSizes('object', 'minProperties', 'maxProperties'),
]
