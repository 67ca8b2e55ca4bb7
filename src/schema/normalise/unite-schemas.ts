import { isKeywords, type Keywords } from '../base/is-keywords.ts'
import { kindOf, kinds } from '../base/json-kind.ts'
import { JsonMap } from '../base/json-map.ts'
import { annotationsOf, mergeSchemas, withoutAnnotations } from './merge-schemas.ts'

/** Keywords that say something about values of one type only. */
const typeKeywords: ReadonlyMap<string, readonly string[]> = new Map([
  ['string', words('minLength maxLength pattern')],
  ['number', words('minimum maximum exclusiveMinimum exclusiveMaximum multipleOf')],
  ['integer', words('minimum maximum exclusiveMinimum exclusiveMaximum multipleOf')],
  [
    'array',
    words(
      'items prefixItems minItems maxItems uniqueItems contains minContains maxContains unevaluatedItems',
    ),
  ],
  [
    'object',
    words(
      'properties required additionalProperties minProperties maxProperties propertyNames patternProperties ' +
        'dependentRequired dependentSchemas unevaluatedProperties',
    ),
  ],
])

/**
 * One schema of types, bounds and enum that means the same as a choice between these; undefined if there is none.
 * `exactlyOne` is for `oneOf`, whose choices must then exclude each other.
 */
export function uniteSchemas(
  choices: readonly unknown[],
  exactlyOne: boolean,
): Record<string, unknown> | undefined {
  if (!choices.every(isKeywords)) return undefined
  const [only] = choices
  if (choices.length === 1 && only !== undefined) return { ...only }
  const described = choices.filter((choice) => Object.keys(annotationsOf(choice)).length > 0)
  // Words about one choice become words about the whole; words about several would be lost.
  if (described.length > 1) return undefined
  const bare = choices.map(withoutAnnotations)
  const united = uniteValues(bare, exactlyOne) ?? uniteTypes(bare)
  return united === undefined ? undefined : mergeSchemas(united, annotationsOf(described[0] ?? {}))
}

/** Choices that list their values: one enum. */
function uniteValues(choices: readonly Keywords[], exactlyOne: boolean): Record<string, unknown> | undefined {
  const values = new JsonMap<true>()
  const all: unknown[] = []
  const types = new Set<unknown>()
  for (const choice of choices) {
    const listed = listedValues(choice)
    if (listed === undefined) return undefined
    for (const type of typesIn(choice)) types.add(type)
    for (const value of listed) {
      if (values.get(value) === undefined) all.push(value)
      else if (exactlyOne) return undefined
      values.set(value, true)
    }
  }
  const isTyped = choices.every((choice) => choice['type'] !== undefined)
  return isTyped ? { type: single([...types]), enum: all } : { enum: all }
}

/** Every value a choice allows; undefined if that is not a list. */
function listedValues(choice: Keywords): readonly unknown[] | undefined {
  const keywords = Object.keys(choice)
  if (keywords.some((keyword) => !['type', 'enum', 'const'].includes(keyword))) return undefined
  const { type, enum: listed } = choice
  if (type === 'null' && keywords.length === 1) return [null]
  if (keywords.includes('const') === keywords.includes('enum')) return undefined
  const values: readonly unknown[] = Array.isArray(listed) ? listed : [choice['const']]
  const types = typesIn(choice)
  return type === undefined || values.every((value) => types.some((name) => isOfType(value, name)))
    ? values
    : undefined
}

/** Choices of different types, each with words about its own type only: they do not get into each other's way. */
function uniteTypes(choices: readonly Keywords[]): Record<string, unknown> | undefined {
  const united: Record<string, unknown> = {}
  const types: unknown[] = []
  for (const choice of choices) {
    const own = typesIn(choice)
    if (own.length === 0 || own.some((type) => types.some((other) => overlaps(type, other)))) return undefined
    const allowed = new Set(['type', ...own.flatMap((type) => typeKeywords.get(String(type)) ?? [])])
    if (Object.keys(choice).some((keyword) => !allowed.has(keyword))) return undefined
    Object.assign(united, choice)
    types.push(...own)
  }
  return { ...united, type: single(types) }
}

function typesIn(schema: Keywords): readonly unknown[] {
  const { type } = schema
  if (type === undefined) return []
  return Array.isArray(type) ? type : [type]
}

function single(types: readonly unknown[]): unknown {
  return types.length === 1 ? types[0] : types
}

function overlaps(one: unknown, other: unknown): boolean {
  const isNumeric = (type: unknown): boolean => type === 'number' || type === 'integer'
  return one === other || (isNumeric(one) && isNumeric(other))
}

function isOfType(value: unknown, type: unknown): boolean {
  return Object.entries(kinds).some(([name, kind]) => name === type && (kindOf(value) & kind) !== 0)
}

function words(text: string): string[] {
  return text.split(' ')
}
