import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '../../contract/base/json.ts'
import type { SchemaUse } from '../../contract/registry.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { diffSchemas } from './diff-schemas.ts'
import { rounds } from '../../../test/support/rounds.ts'

const checker = createSchemaChecker()

/** `kind pointer` of each change. */
function changes(before: JsonSchema, after: JsonSchema, use: SchemaUse): string[] {
  return diffSchemas(before, after, use).map(({ kind, pointer }) => `${kind} ${pointer}`)
}

const closed = (properties: Record<string, JsonSchema>, required: string[] = []): JsonSchema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const text: JsonSchema = { type: 'string' }

const pairs: [string, JsonSchema, JsonSchema, string[], string[]][] = [
  ['nothing', closed({ a: text }), closed({ a: text }), [], []],
  [
    'words only',
    closed({ a: text }),
    { ...closed({ a: { type: 'string', title: 'A', description: 'An a.', format: 'email' } }), title: 'T' },
    [],
    [],
  ],
  [
    'a new optional field',
    closed({ a: text }),
    closed({ a: text, b: text }),
    ['added /properties/b'],
    ['added /properties/b'],
  ],
  [
    'a new optional field of an open object',
    { type: 'object', properties: { a: text } },
    { type: 'object', properties: { a: text, b: text } },
    ['added /properties/b'],
    ['added /properties/b'],
  ],
  [
    'a new field of a map of numbers',
    { type: 'object', additionalProperties: { type: 'number' } },
    { type: 'object', properties: { b: text }, additionalProperties: { type: 'number' } },
    ['breaking /properties/b/type'],
    ['breaking /properties/b/type'],
  ],
  [
    'a new required field',
    closed({ a: text }),
    closed({ a: text, b: text }, ['b']),
    ['breaking /properties/b'],
    ['changed /properties/b'],
  ],
  [
    'a removed field',
    closed({ a: text, b: text }),
    closed({ a: text }),
    ['breaking /properties/b'],
    ['breaking /properties/b'],
  ],
  [
    'a removed field of an open object',
    { type: 'object', properties: { b: text } },
    { type: 'object', properties: {} },
    ['changed /properties/b'],
    ['breaking /properties/b'],
  ],
  [
    'a field that is required now',
    closed({ a: text }),
    closed({ a: text }, ['a']),
    ['breaking /properties/a'],
    ['changed /properties/a'],
  ],
  [
    'a field that is optional now',
    closed({ a: text }, ['a']),
    closed({ a: text }),
    ['changed /properties/a'],
    ['breaking /properties/a'],
  ],
  [
    'an object that was closed',
    { type: 'object', properties: { a: text } },
    { ...closed({ a: text }), required: undefined } as unknown as JsonSchema,
    ['breaking /additionalProperties'],
    ['changed /additionalProperties'],
  ],
  [
    'another type',
    closed({ 'a/b': text }),
    closed({ 'a/b': { type: 'number' } }),
    ['breaking /properties/a~1b/type'],
    ['breaking /properties/a~1b/type'],
  ],
  [
    'one type more',
    closed({ a: { type: 'integer' } }),
    closed({ a: { type: 'number' } }),
    ['changed /properties/a/type'],
    ['breaking /properties/a/type'],
  ],
  ['null as well', text, { type: 'string', nullable: true }, ['changed /nullable'], ['breaking /nullable']],
  ['a smaller enum', { enum: ['a', 'b'] }, { enum: ['a'] }, ['breaking /enum'], ['changed /enum']],
  ['an enum', text, { type: 'string', enum: ['a'] }, ['breaking /enum'], ['changed /enum']],
  [
    'tighter bounds',
    { type: 'number', minimum: 0, maximum: 9 },
    { type: 'number', exclusiveMinimum: 0, maximum: 8 },
    ['breaking /minimum', 'breaking /exclusiveMinimum', 'breaking /maximum'],
    ['changed /minimum', 'changed /exclusiveMinimum', 'changed /maximum'],
  ],
  [
    'longer text',
    { type: 'string', maxLength: 5 },
    { type: 'string', maxLength: 9 },
    ['changed /maxLength'],
    ['breaking /maxLength'],
  ],
  ['a pattern', text, { type: 'string', pattern: '^a' }, ['breaking /pattern'], ['changed /pattern']],
  [
    'another pattern',
    { type: 'string', pattern: '^a' },
    { type: 'string', pattern: '^b' },
    ['breaking /pattern'],
    ['breaking /pattern'],
  ],
  [
    'other items',
    { type: 'array', items: { type: 'integer' }, minItems: 1 },
    { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 2, uniqueItems: true },
    ['breaking /minItems', 'breaking /uniqueItems', 'breaking /items/minimum'],
    ['changed /minItems', 'changed /uniqueItems', 'changed /items/minimum'],
  ],
  [
    'a step',
    { type: 'integer', multipleOf: 10 },
    { type: 'integer', multipleOf: 5 },
    ['changed /multipleOf'],
    ['breaking /multipleOf'],
  ],
  [
    'another default',
    closed({ a: { type: 'integer', default: 1 } }),
    closed({ a: { type: 'integer', default: 2 } }),
    ['breaking /properties/a/default'],
    ['breaking /properties/a/default'],
  ],
  [
    'what cannot be compared',
    { anyOf: [text] } as JsonSchema,
    { anyOf: [text, { type: 'null' }] } as JsonSchema,
    ['breaking '],
    ['breaking '],
  ],
]

test.each(pairs)('finds %s (DEF-9)', (...[, before, after, input, output]) => {
  expect(changes(before, after, 'input')).toEqual(input)
  expect(changes(before, after, 'output')).toEqual(output)
})

test('says what was and what is (DEF-9)', () => {
  const [change] = diffSchemas({ type: 'number', minimum: 1 }, { type: 'number', minimum: 3 }, 'input')
  expect(change?.message).toBe('"minimum" was 1 and is 3.')
})

const name = fc.constantFrom('a', 'b', 'c')
const number = fc.oneof(fc.integer({ min: -2, max: 5 }), fc.constantFrom(0.5, 2.5))
const { value: json } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.oneof(fc.constantFrom('', 'a', 'ab', 'b'), number, fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))
const typeName = fc.constantFrom(
  ...(['string', 'number', 'integer', 'boolean', 'null', 'object', 'array'] as const),
)
const size = fc.integer({ min: 0, max: 2 })

function some(all: { [Keyword in keyof JsonSchema]: fc.Arbitrary<JsonSchema[Keyword]> }) {
  return fc.record(all, { requiredKeys: [] }) as fc.Arbitrary<JsonSchema>
}

const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    fc.record({ type: typeName }),
    some({ type: typeName, enum: fc.array(json, { minLength: 1, maxLength: 3 }), const: json }),
    some({
      type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
      nullable: fc.boolean(),
      minimum: number,
      maximum: number,
      exclusiveMinimum: number,
      exclusiveMaximum: number,
      multipleOf: fc.constantFrom(1, 2, 4, 0.5),
      minLength: size,
      maxLength: size,
      pattern: fc.constantFrom('^a', 'b$'),
      default: json,
    }),
    some({
      type: fc.constant('array' as const),
      items: tie('schema'),
      minItems: size,
      maxItems: size,
      uniqueItems: fc.boolean(),
    }),
    some({
      type: fc.constant('object' as const),
      properties: fc.dictionary(name, tie('schema'), { maxKeys: 3, noNullPrototype: true }),
      required: fc.uniqueArray(name, { maxLength: 2 }),
      additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      minProperties: size,
      maxProperties: size,
    }),
  ),
}))

/** A schema and one that differs from it in a few places, so that many pairs are compatible. */
const pair = schema.chain((first) => fc.tuple(fc.constant(first), fc.oneof(schema, mutated(first))))

/** Without some keywords, with other numbers, with one more keyword or field. */
function mutated(first: JsonSchema): fc.Arbitrary<JsonSchema> {
  const choices = { extra: schema, keep: fc.infiniteStream(fc.boolean()), named: name, step: size }
  return fc
    .record({ ...choices, how: fc.constantFrom('less', 'other', 'more') })
    .map(({ extra, keep, named, step, how }) => {
      const chosen = () => keep.next().value === true
      if (how === 'less') return Object.fromEntries(Object.entries(first).filter(chosen))
      if (how === 'other')
        return Object.fromEntries(
          Object.entries(first).map(([keyword, value]) => [
            keyword,
            typeof value === 'number' && chosen() ? value + step : value,
          ]),
        )
      if (first.properties === undefined) return { ...first, ...extra }
      return { ...first, properties: { ...first.properties, [named]: extra } }
    })
}

/** What is left of a value without the fields that its reader does not know (output), or that had no name before (input). */
function forget(value: Json, schemas: { before: JsonSchema; after: JsonSchema; use: SchemaUse }): Json {
  const { before, after, use } = schemas
  if (Array.isArray(value))
    return value.map((item) => forget(item, { before: before.items ?? {}, after: after.items ?? {}, use }))
  if (!isPlainObject(value)) return value
  const others = (from: JsonSchema) =>
    typeof from.additionalProperties === 'object' ? from.additionalProperties : {}
  const kept: [string, Json][] = []
  for (const [key, item] of Object.entries(value as Record<string, Json>)) {
    const old = before.properties?.[key]
    const now = after.properties?.[key]
    const unnamed = old === undefined && typeof before.additionalProperties !== 'object'
    if (unnamed && (use === 'output' ? before.additionalProperties === false : now !== undefined)) continue
    kept.push([key, forget(item, { before: old ?? others(before), after: now ?? others(after), use })])
  }
  return Object.fromEntries(kept)
}

test.each(['input', 'output'] as const)(
  'where nothing breaks, every %s that fitted one version fits the other (DEF-9)',
  (use) => {
    let held = 0
    fc.assert(
      fc.property(pair, fc.array(json, { minLength: 4, maxLength: 12 }), ([one, other], values) => {
        const [before, after] = use === 'input' ? [one, other] : [other, one]
        if (diffSchemas(before, after, use).some((change) => change.kind === 'breaking')) return
        const [from, to] = use === 'input' ? [before, after] : [after, before]
        for (const whole of [...values, ...(before.enum ?? []), ...(after.enum ?? [])]) {
          const value = forget(whole, { before, after, use })
          if (!checker.check(from, use === 'input' ? value : whole).ok) continue
          held++
          expect(checker.check(to, value), JSON.stringify({ value, before, after })).toMatchObject({
            ok: true,
          })
        }
      }),
      { numRuns: rounds({ usual: 1_000, long: 4_000 }) },
    )
    expect(held).toBeGreaterThan(rounds({ usual: 250, long: 1_000 }))
  },
)
