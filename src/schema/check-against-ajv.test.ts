import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json, JsonObject } from '../contract/base/json.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import { createSchemaChecker } from './create-schema-checker.ts'
import { normaliseSchema } from './normalise/normalise-schema.ts'
import { rounds } from '../../test/support/rounds.ts'

const ajv = new Ajv2020({
  strict: false,
  allErrors: true,
  useDefaults: true,
  validateFormats: false,
  ownProperties: true,
  logger: false,
})
const checker = createSchemaChecker()

const name = fc.constantFrom('a', 'b', 'c', 'a/b')
const text = fc.constantFrom('', 'a', 'ab', 'aba', '😀', '😀a', '1', '1.5', 'true', '{"a":1}', '[1]')
/** Few values, so that they meet often. Fractions are such that Ajv's multipleOf has no rounding trouble. */
const number = fc.oneof(fc.integer({ min: -3, max: 6 }), fc.constantFrom(0.5, 2.5, 1e20))
const { value: json } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(text, number, fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

const typeName = fc.constantFrom(
  ...(['string', 'number', 'integer', 'boolean', 'null', 'object', 'array'] as const),
)
const size = fc.integer({ min: 0, max: 3 })
const { schema } = fc.letrec<{ schema: JsonSchema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.record({ type: typeName }),
    fc.record({ enum: fc.array(json, { minLength: 1, maxLength: 4 }) }),
    fc.record({ const: json }),
    keywords({ items: tie('schema'), minItems: size, maxItems: size, uniqueItems: fc.boolean() }),
    keywords({
      type: fc.oneof(typeName, fc.uniqueArray(typeName, { minLength: 1, maxLength: 3 })),
      minimum: number,
      maximum: number,
      exclusiveMinimum: number,
      exclusiveMaximum: number,
      multipleOf: fc.constantFrom(1, 2, 0.5),
      minLength: size,
      maxLength: size,
      pattern: fc.constantFrom('^a', 'b$', '^[ab]*$', '^.$', '^(a|b)+$'),
    }),
    keywords({
      properties: fc.dictionary(name, tie('schema'), { maxKeys: 3, noNullPrototype: true }),
      required: fc.uniqueArray(name, { maxLength: 2 }),
      additionalProperties: fc.oneof(fc.boolean(), tie('schema')),
      minProperties: size,
      maxProperties: size,
    }),
  ),
}))

/** Some of these keywords. */
function keywords(all: {
  [Keyword in keyof JsonSchema]: fc.Arbitrary<JsonSchema[Keyword]>
}): fc.Arbitrary<JsonSchema> {
  return fc.record(all, { requiredKeys: [] }) as fc.Arbitrary<JsonSchema>
}

test('agrees with Ajv on random schemas and values (SCHEMA-1)', () => {
  let fits = 0
  fc.assert(
    fc.property(schema, fc.array(json, { minLength: 1, maxLength: 8 }), (random, values) => {
      const validate = ajv.compile(random)
      for (const value of values) {
        const expected = validate(structuredClone(value))
        if (expected) fits++
        expect(checker.check(random, value).ok, JSON.stringify(value)).toBe(expected)
      }
      ajv.removeSchema(random)
    }),
    { numRuns: rounds({ usual: 50, long: 300 }) },
  )
  // Far below what chance leaves of some 200: it is there for the case that nothing fits.
  expect(fits).toBeGreaterThan(20)
})

test('fills in the same defaults as Ajv (SCHEMA-1)', () => {
  const withDefaults = fc.dictionary(
    name,
    fc.record({ default: json, properties: fc.dictionary(name, fc.record({ default: json })) }),
    { noNullPrototype: true },
  )
  fc.assert(
    fc.property(withDefaults, json, (properties, value) => {
      const random = { properties }
      const expected = structuredClone(value)
      ajv.compile(random)(expected)
      ajv.removeSchema(random)
      expect(checker.check(random, value)).toEqual({ ok: true, value: expected, repairs: [] })
    }),
    { numRuns: rounds({ usual: 70, long: 200 }) },
  )
})

test('repair gives a value that fits, is recorded, and is not repaired again (SCHEMA-5)', () => {
  fc.assert(
    fc.property(schema, json, (random, value) => {
      const before = structuredClone(value)
      const strict = checker.check(random, value)
      const first = checker.check(random, value, { repair: true })
      expect(value).toEqual(before)
      if (strict.ok) expect(first).toEqual(strict)
      if (!first.ok) return
      expect(first.repairs.length > 0).toBe(!strict.ok)
      const second = checker.check(random, first.value, { repair: true })
      expect(second).toEqual({ ok: true, value: first.value, repairs: [] })
      expect(second.ok && second.value).toBe(first.value)
    }),
    { numRuns: rounds({ usual: 70, long: 500 }) },
  )
})

test('repaired numbers and texts print as they came (SCHEMA-5)', () => {
  const texts = fc.oneof(
    fc.double().map(String),
    fc.integer().map(String),
    fc.string(),
    fc.bigInt().map(String),
  )
  fc.assert(
    fc.property(texts, fc.constantFrom('number' as const, 'integer' as const), (source, type) => {
      const checked = checker.check({ type }, source, { repair: true })
      if (checked.ok) expect(JSON.stringify(checked.value)).toBe(source)
    }),
  )
})

/** Random schemas with keywords outside the subset, on top of random ones inside. */
function composed(leaf: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject> {
  const { node } = fc.letrec<{ node: JsonObject }>((tie) => {
    const some = fc.array(tie('node'), { minLength: 1, maxLength: 3 })
    const pair = fc.tuple(tie('node'), tie('node'))
    return {
      node: fc.oneof(
        { maxDepth: 2, withCrossShrink: true },
        leaf,
        some.map((anyOf): JsonObject => ({ anyOf })),
        some.map((oneOf): JsonObject => ({ oneOf })),
        some.map((allOf): JsonObject => ({ allOf })),
        pair.map(([one, two]): JsonObject => ({ ...one, ...two })),
        tie('node').map((not): JsonObject => ({ not })),
        pair.map(([a, b]): JsonObject => ({ properties: { a }, patternProperties: { '^b$': b } })),
        pair.map(([a, b]): JsonObject => ({ prefixItems: [a], items: b, dependentRequired: { a: ['b'] } })),
      ),
    }
  })
  return node
}

const plainLeaf = fc.oneof(
  schema.map((inside) => inside as JsonObject),
  typeName.map((type): JsonObject => ({ type })),
  json.map((value): JsonObject => ({ const: value })),
)
/** References only go on with a part of the value, so that every validation ends. */
const reference = fc.constantFrom<JsonObject[]>(
  { $ref: '#/$defs/d' },
  { items: { $ref: '#' } },
  { properties: { a: { $ref: '#/$defs/d' }, b: { $ref: '#' } } },
)
const importedSchema = composed(
  fc.oneof({ weight: 4, arbitrary: plainLeaf }, { weight: 1, arbitrary: reference }),
)

test('normalising keeps what a schema means, and full validation agrees with Ajv (SCHEMA-2)', () => {
  let simplified = 0
  fc.assert(
    fc.property(
      importedSchema,
      composed(plainLeaf),
      fc.array(json, { minLength: 1, maxLength: 6 }),
      (root, d, values) => {
        const random: JsonObject = { ...root, $defs: { d } }
        const { schema: simple, full, issues } = normaliseSchema(random)
        expect(issues).toEqual([])
        if (!full) simplified++
        const validate = ajv.compile(random)
        for (const value of values) {
          const expected = validate(structuredClone(value))
          expect(checker.check(simple, value).ok, JSON.stringify({ value, simple })).toBe(expected)
        }
        ajv.removeSchema(random)
      },
    ),
    { numRuns: rounds({ usual: 40, long: 100 }) },
  )
  expect(simplified).toBeGreaterThan(0)
})
