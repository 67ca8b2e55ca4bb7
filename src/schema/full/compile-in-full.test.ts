import { expect, test } from 'vitest'
import { createSchemaChecker } from '../create-schema-checker.ts'
import { compileInFull } from './compile-in-full.ts'
import type { FullSchema } from './rule.ts'

const checker = createSchemaChecker()

/** The verdicts of the checker and of the full validation alone; they must not differ. */
function fits(schema: FullSchema, value: unknown): boolean {
  const whole = checker.check(schema as never, value).ok
  expect(compileInFull(schema as never)(value).length === 0).toBe(whole)
  return whole
}

const foo = { properties: { foo: { type: 'string' } } } as const
const bar = { properties: { bar: { type: 'string' } } } as const

const conditions = JSON.parse(
  '{ "if": { "properties": { "foo": { "type": "string" } }, "required": ["foo"] }, "then": { "properties": { "bar": { "type": "string" } } }, "else": { "properties": { "baz": {} } }, "unevaluatedProperties": false }',
) as FullSchema

test.each<[string, FullSchema, readonly unknown[], readonly unknown[]]>([
  [
    'unevaluated fields beside all, any and one',
    { allOf: [foo], anyOf: [bar, { minProperties: 9 }], unevaluatedProperties: false },
    [{}, { foo: 'a' }, { foo: 'a', bar: 'b' }],
    [{ baz: 1 }, { foo: 'a', bar: 1 }],
  ],
  [
    'unevaluated fields beside a choice that does not fit',
    {
      oneOf: [
        { ...foo, required: ['foo'] },
        { ...bar, required: ['bar'] },
      ],
      unevaluatedProperties: false,
    },
    [{ foo: 'a' }, { bar: 'b' }],
    [{ foo: 'a', bar: 1 }, { baz: 1 }],
  ],
  [
    'unevaluated fields beside not, which speaks of none',
    { not: { not: foo }, unevaluatedProperties: false },
    [{}],
    [{ foo: 'a' }],
  ],
  [
    'unevaluated fields beside conditions',
    conditions,
    [{ foo: 'a', bar: 'b' }, { baz: 1 }],
    [{ foo: 'a', baz: 1 }, { bar: 'b' }],
  ],
  [
    'unevaluated fields beside dependent schemas',
    { ...foo, dependentSchemas: { foo: bar }, unevaluatedProperties: false },
    [{ foo: 'a', bar: 'b' }],
    [{ bar: 'b' }],
  ],
  [
    'unevaluated fields by a schema, which speaks of them itself',
    { allOf: [{ unevaluatedProperties: { type: 'number' } }], unevaluatedProperties: false },
    [{ a: 1 }],
    [{ a: 'x' }],
  ],
  [
    'unevaluated fields of a reference to the whole',
    { properties: { node: { $ref: '#' }, leaf: {} }, unevaluatedProperties: false },
    [{ node: { node: { leaf: 1 } } }],
    [{ node: { node: { stray: 1 } } }],
  ],
  [
    'unevaluated items after items of any kind',
    {
      allOf: [{ prefixItems: [{ type: 'string' }] }, { items: { type: 'string' } }],
      unevaluatedItems: false,
    },
    [['a', 'b']],
    [['a', 1]],
  ],
  [
    'unevaluated items after nested tuples',
    {
      prefixItems: [{ type: 'string' }],
      allOf: [{ prefixItems: [true, { type: 'number' }] }],
      unevaluatedItems: { type: 'null' },
    },
    [
      ['a', 1],
      ['a', 1, null],
    ],
    [['a', 1, 2]],
  ],
  [
    'unevaluated items beside contains with a least of none',
    { contains: { type: 'string' }, minContains: 0, unevaluatedItems: { type: 'number' } },
    [[], [1], ['a', 1]],
    [[null]],
  ],
  [
    'contains with bounds',
    { contains: { const: 1 }, minContains: 2, maxContains: 3 },
    [[1, 1], [1, 0, 1, 1], 'no array'],
    [[1], [1, 1, 1, 1]],
  ],
  [
    'names, patterns and additional fields',
    {
      properties: JSON.parse('{ "toString": { "type": "string" } }') as NonNullable<FullSchema['properties']>,
      patternProperties: { '^n': { type: 'number' } },
      additionalProperties: { type: 'boolean' },
      propertyNames: { maxLength: 8 },
    },
    [{}, { toString: 'a', n1: 1, z: true }],
    [{ toString: 1 }, { n: 'a' }, { z: 1 }, { nnnnnnnnn: 1 }],
  ],
  ['dependent fields', { dependentRequired: { a: ['b'] } }, [{}, { b: 1 }, { a: 1, b: 1 }], [{ a: 1 }]],
  [
    'values within',
    { not: { enum: [{ a: [1] }] }, uniqueItems: true },
    [{ a: [2] }, [1, '1']],
    [{ a: [1] }, [1, 1.0]],
  ],
])('%s (SCHEMA-2)', (...[, schema, fitting, others]) => {
  expect(fitting.map((value) => fits(schema, value))).toEqual(fitting.map(() => true))
  expect(others.map((value) => fits(schema, value))).toEqual(others.map(() => false))
})

test('what keeps a value from each of the forms is told, but not more than a person reads (SCHEMA-3)', () => {
  const nested = {
    anyOf: [{ required: ['a'] }, { anyOf: [{ required: ['b'] }, { type: 'null' }] }],
  }
  const [issue] = compileInFull(nested as never)({})
  expect(issue?.message).toBe(
    'Fits none of the allowed forms. (/a: The field "a" is missing.) or ' +
      '(Fits none of the allowed forms. (/b: The field "b" is missing.) or (Found an object; give null.))',
  )
  const many = { anyOf: Array.from({ length: 50 }, (_, n) => ({ required: [`${n}${'x'.repeat(900)}`] })) }
  expect(compileInFull(many as never)({})[0]?.message.length).toBeLessThan(3_000)
})
