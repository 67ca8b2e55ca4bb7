import { expect, test } from 'vitest'
import type { JsonObject } from '../../contract/base/json.ts'
import { normaliseSchema } from './normalise-schema.ts'

test.each<[string, JsonObject, object]>([
  [
    'local references are written out',
    {
      properties: { a: { $ref: '#/$defs/A', description: 'outer' }, b: { $ref: '#/properties/a' } },
      $defs: { A: { type: 'string', description: 'inner' } },
    },
    {
      properties: {
        a: { type: 'string', description: 'outer\ninner' },
        b: { type: 'string', description: 'outer\ninner' },
      },
    },
  ],
  [
    'a reference at the top is written out',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      $ref: '#/definitions/A',
      definitions: { A: { type: 'object' } },
    },
    { type: 'object' },
  ],
  [
    'references by anchor, and with escapes',
    {
      items: { $ref: '#here' },
      not_a_keyword: { 'a/b c': { type: 'null' } },
      additionalProperties: { $ref: '#/not_a_keyword/a~1b%20c' },
      properties: { x: { $anchor: 'here', minimum: 1 } },
    },
    { items: { minimum: 1 }, additionalProperties: { type: 'null' }, properties: { x: { minimum: 1 } } },
  ],
  [
    'classifications stay, and those of a reference add to them',
    {
      properties: {
        a: { $ref: '#/$defs/A', 'x-classification': 'secret' },
        b: { anyOf: [{ type: 'string', 'x-classification': 'pii' }, { type: 'null' }] },
      },
      $defs: { A: { type: 'string', 'x-classification': ['pii'] } },
    },
    {
      properties: {
        a: { type: 'string', 'x-classification': ['secret', 'pii'] },
        b: { type: ['string', 'null'], 'x-classification': 'pii' },
      },
    },
  ],
  [
    'a choice with null becomes a type',
    { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }], default: null, title: 'T' },
    { type: ['string', 'null'], minLength: 2, default: null, title: 'T' },
  ],
  [
    'a choice of an enum with null',
    { oneOf: [{ type: 'string', enum: ['a'] }, { type: 'null' }] },
    { type: ['string', 'null'], enum: ['a', null] },
  ],
  [
    'a choice of values becomes an enum',
    { anyOf: [{ const: 'a' }, { const: 'b' }, { enum: ['b', 'c'] }] },
    { enum: ['a', 'b', 'c'] },
  ],
  [
    'a choice of different types becomes an array of types',
    {
      anyOf: [
        { type: 'string', pattern: 'x' },
        { type: 'array', items: { type: 'integer' } },
        { type: 'boolean' },
      ],
    },
    { type: ['string', 'array', 'boolean'], pattern: 'x', items: { type: 'integer' } },
  ],
  [
    'single choices are unwrapped',
    { allOf: [{ anyOf: [{ oneOf: [{ type: 'string' }] }] }], description: 'D' },
    { type: 'string', description: 'D' },
  ],
  [
    'parts that do not meet are put together',
    {
      allOf: [
        { properties: { a: {} }, required: ['a'] },
        { properties: { b: {} }, required: ['b'] },
      ],
      type: 'object',
    },
    { type: 'object', properties: { a: {}, b: {} }, required: ['a', 'b'] },
  ],
  ['nullable becomes a type', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
  ['nullable without a type says nothing', { enum: [1], nullable: true }, { enum: [1] }],
  [
    'boolean bounds of draft 4',
    { minimum: 1, exclusiveMinimum: true, maximum: 9, exclusiveMaximum: false },
    { exclusiveMinimum: 1, maximum: 9 },
  ],
  ['required of draft 3', { properties: { a: { required: true } } }, { properties: { a: {} } }],
  ['names that are strings', { type: 'object', propertyNames: { type: 'string' } }, { type: 'object' }],
  ['schemas that are true', { properties: { a: true }, items: true }, { properties: { a: {} }, items: {} }],
  ['items that are false', { items: false }, { maxItems: 0 }],
  [
    'words about the schema and unknown keywords',
    { $schema: 'x', $id: 'y', $comment: 'z', 'x-mine': 1, deprecated: true, title: 'T' },
    { title: 'T' },
  ],
])('%s (SCHEMA-2)', (_title, schema, expected) => {
  const before = structuredClone(schema)
  expect(normaliseSchema(schema)).toEqual({ schema: expected, full: false, issues: [] })
  expect(schema).toEqual(before)
  expect(normaliseSchema(expected as JsonObject)).toEqual({ schema: expected, full: false, issues: [] })
})

test.each<[string, JsonObject, object]>([
  ['types that overlap', { anyOf: [{ type: 'integer' }, { type: 'number', minimum: 3 }] }, {}],
  ['oneOf whose values overlap', { oneOf: [{ enum: [1, 2] }, { enum: [2, 3] }] }, {}],
  ['null beside a schema that allows it', { oneOf: [{ minLength: 3 }, { type: 'null' }] }, {}],
  [
    'descriptions of several choices',
    {
      anyOf: [
        { type: 'string', description: 'a' },
        { type: 'null', description: 'b' },
      ],
    },
    {},
  ],
  ['a bound twice', { minimum: 1, allOf: [{ minimum: 2 }] }, {}],
  [
    'closed objects in allOf',
    { properties: { a: {} }, allOf: [{ properties: { b: {} }, additionalProperties: false }] },
    {},
  ],
  [
    'unevaluatedProperties beside others',
    { allOf: [{ properties: { a: {} } }], unevaluatedProperties: false },
    {},
  ],
  [
    'unevaluatedProperties that must not see the choices beside it',
    {
      anyOf: [{ properties: { a: {} }, required: ['a'] }, { required: ['b'] }],
      allOf: [{ unevaluatedProperties: false }],
    },
    {},
  ],
  ['a field that may not be there', { properties: { a: false } }, { properties: { a: { not: {} } } }],
  ['a tuple of draft 7', { items: [{}], additionalItems: false }, { prefixItems: [{}], items: false }],
  [
    'dependencies of draft 7',
    { dependencies: { a: ['b'], c: { minProperties: 2 } } },
    { dependentRequired: { a: ['b'] }, dependentSchemas: { c: { minProperties: 2 } } },
  ],
])('%s stay and need full validation (SCHEMA-2)', (_title, schema, expected) => {
  const { full, issues, schema: simple } = normaliseSchema(schema)
  expect({ full, issues }).toEqual({ full: true, issues: [] })
  expect(simple).toMatchObject(Object.keys(expected).length > 0 ? expected : schema)
})

test('recursive references point into $defs (SCHEMA-2)', () => {
  const schema = {
    properties: { tree: { $ref: '#/definitions/tree' } },
    definitions: {
      tree: {
        type: 'object',
        properties: { next: { $ref: '#/definitions/tree' }, leaf: { $ref: '#/definitions/leaf' } },
      },
      leaf: { type: 'string' },
    },
  }
  const tree = {
    type: 'object',
    properties: { next: { $ref: '#/$defs/definition1' }, leaf: { type: 'string' } },
  }
  expect(normaliseSchema(schema)).toEqual({
    schema: { properties: { tree }, $defs: { definition1: tree } },
    full: true,
    issues: [],
  })
  expect(normaliseSchema({ properties: { a: { $ref: '#' } } }).schema).toEqual({
    properties: { a: { $ref: '#' } },
  })
})

test('references that would multiply are not written out (SCHEMA-6)', () => {
  const $defs: JsonObject = { d30: { type: 'string' } }
  for (let level = 0; level < 30; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` }
    $defs[`d${level}`] = { properties: { a: next, b: next } }
  }
  const { schema, full, issues } = normaliseSchema({ $ref: '#/$defs/d0', $defs })
  expect({ full, issues }).toEqual({ full: true, issues: [] })
  expect(JSON.stringify(schema).length).toBeLessThan(5000)
})

test('a schema with issues comes back as it is, with them', () => {
  const schema = { $ref: 'https://example.com' }
  const normalised = normaliseSchema(schema)
  expect(normalised.schema).toBe(schema)
  expect(normalised.issues).toMatchObject([{ pointer: '/$ref', code: 'unsupported_schema' }])
})
