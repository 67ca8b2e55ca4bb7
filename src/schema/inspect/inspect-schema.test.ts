import { expect, test } from 'vitest'
import { inspectObjectSchema, inspectSchema } from './inspect-schema.ts'

/** Issues as `pointer code`. */
function verdict(schema: unknown, kind: 'native' | 'imported' = 'native'): string[] {
  return inspectSchema(schema, kind).map((issue) => `${issue.pointer} ${issue.code}`)
}

function message(schema: unknown, kind: 'native' | 'imported' = 'native'): string | undefined {
  return inspectSchema(schema, kind)[0]?.message
}

test('the whole subset passes (SCHEMA-1)', () => {
  const schema = {
    type: 'object',
    title: 'T',
    description: 'D',
    properties: {
      s: { type: 'string', minLength: 1, maxLength: 9, pattern: '^a', format: 'email', default: 'a' },
      n: { type: ['number', 'null'], minimum: 0, exclusiveMaximum: 5, multipleOf: 0.5, default: null },
      e: { enum: ['a', 1, null, { x: [] }] },
      c: { const: { x: 1 }, examples: [{ x: 1 }], 'x-classification': 'pii' },
      b: { type: 'boolean', nullable: true, default: null },
      a: { type: 'array', items: { type: 'integer' }, minItems: 0, maxItems: 2, uniqueItems: true },
      o: { type: 'object', additionalProperties: { type: 'string' }, minProperties: 1, maxProperties: 2 },
    },
    required: ['s'],
    additionalProperties: false,
  }
  expect(verdict(schema)).toEqual([])
  expect(verdict(schema, 'imported')).toEqual([])
})

test('a classification is a name or names; one that says nothing is refused (OUT-3)', () => {
  const schema = (label: unknown) => ({ type: 'object', properties: { a: { 'x-classification': label } } })
  expect(verdict(schema(['pii', 'secret']))).toEqual([])
  for (const label of ['', [], [1], true, {}]) {
    expect(verdict(schema(label))).toEqual(['/properties/a/x-classification invalid_schema'])
    expect(verdict(schema(label), 'imported')).toEqual([])
  }
})

const unsupported =
  'oneOf anyOf allOf not $ref $defs definitions if then else contains patternProperties prefixItems dependentSchemas ' +
  'dependentRequired propertyNames unevaluatedProperties unevaluatedItems $dynamicRef $schema $id dependencies'

test.each(unsupported.split(' '))('a native schema may not use %s (SCHEMA-2)', (keyword) => {
  const schema = { type: 'object', properties: { 'a/b': { [keyword]: {} } } }
  expect(verdict(schema)).toEqual([`/properties/a~1b/${keyword} unsupported_schema`])
})

test.each(unsupported.split(' '))(
  'a schema of the program may use %s if it is of draft 2020-12 (SCHEMA-2)',
  (keyword) => {
    const newer = !/^(definitions|dependencies|\$dynamicRef)$/.test(keyword)
    const codes = inspectSchema({ type: 'object', [keyword]: {} }, 'own').map(({ code }) => code)
    expect(codes.includes('unsupported_schema')).toBe(!newer)
  },
)

test('a schema of the program may be combined of others, and is still looked at (SCHEMA-2)', () => {
  const schema = {
    type: 'object',
    properties: { a: { anyOf: [{ $ref: '#/$defs/pair' }, true] } },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
    $defs: { pair: { prefixItems: [{ type: 'string' }], items: false } },
  }
  expect(inspectSchema(schema, 'own')).toEqual([])
  const wrong = {
    properties: { a: { anyOf: [{ minimum: 2, maximum: 1 }, { requried: [] }] } },
    required: ['c'],
  }
  expect(inspectSchema(wrong, 'own').map(({ pointer }) => pointer)).toEqual([
    '/properties/a/anyOf/0/minimum',
    '/properties/a/anyOf/1/requried',
  ])
  expect(inspectSchema({ properties: {}, required: ['c'] }, 'own')).toMatchObject([
    { pointer: '/required/0' },
  ])
})

test('a reference that comes back without a step into the value is found (SCHEMA-6)', () => {
  const circle = {
    $ref: '#/$defs/a',
    $defs: { a: { allOf: [{ $ref: '#/$defs/b' }] }, b: { $ref: '#/$defs/a' } },
  }
  expect(inspectSchema(circle, 'own').map(({ code }) => code)).toContain('invalid_schema')
  const tree = { properties: { below: { $ref: '#' } }, type: 'object' }
  expect(inspectSchema(tree, 'own')).toEqual([])
})

test('a mistyped keyword is found, with what it may mean', () => {
  expect(verdict({ requried: [] })).toEqual(['/requried unknown_field'])
  expect(message({ requried: [] })).toBe('There is no keyword "requried"; did you mean "required"?')
  expect(verdict({ requried: [] }, 'imported')).toEqual([])
})

test.each([
  ['a type that is none', { type: 'strng' }, '/type'],
  ['no types', { type: [] }, '/type'],
  ['required that is not an array', { required: 'a' }, '/required'],
  ['required that names an undeclared field', { properties: {}, required: ['a'] }, '/required/0'],
  ['a name required twice', { properties: { a: {} }, required: ['a', 'a'] }, '/required/1'],
  ['minimum above maximum', { minimum: 2, maximum: 1 }, '/minimum'],
  ['minLength above maxLength', { minLength: 2, maxLength: 1 }, '/minLength'],
  ['exclusive bounds that leave nothing', { exclusiveMinimum: 1, exclusiveMaximum: 1 }, '/exclusiveMinimum'],
  ['a negative length', { minLength: -1 }, '/minLength'],
  ['a multiple of nothing', { multipleOf: 0 }, '/multipleOf'],
  ['an infinite bound', { maximum: Number.POSITIVE_INFINITY }, '/maximum'],
  ['a default that does not fit', { type: 'integer', default: 'x' }, '/default'],
  ['a default that does not fit inside', { items: { type: 'integer' }, default: ['x'] }, '/default'],
  ['an empty enum', { enum: [] }, '/enum'],
  [
    'a value twice',
    {
      enum: [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    },
    '/enum/1',
  ],
  ['an enum value of another type', { type: 'string', enum: ['a', 1] }, '/enum/1'],
  ['a const of another type', { type: 'string', const: 1 }, '/const'],
  ['nullable without a type', { nullable: true }, '/nullable'],
  ['nullable with an enum that lacks null', { type: 'string', nullable: true, enum: ['a'] }, '/nullable'],
  ['items that are no schema', { items: 5 }, '/items'],
  ['properties that are no object', { properties: [] }, '/properties'],
  ['a field that is not a schema', { properties: { a: 'string' } }, '/properties/a'],
  ['a default that is not JSON', { default: new Date(0) }, '/default'],
  ['a pattern that is none', { pattern: '(' }, '/pattern'],
  ['a pattern with a back-reference', { pattern: '(a)\\1' }, '/pattern'],
  ['a schema that is none', 5, ''],
])('refuses %s', (_title, schema, pointer) => {
  expect(verdict(schema)).toEqual([`${pointer} invalid_schema`])
})

test('every issue is named at once', () => {
  const schema = { type: 'object', properties: { a: { anyOf: [] }, b: { type: 'x', minimum: 'y' } }, foo: 1 }
  expect(verdict(schema)).toEqual([
    '/properties/a/anyOf unsupported_schema',
    '/properties/b/type invalid_schema',
    '/properties/b/minimum invalid_schema',
    '/foo unknown_field',
  ])
})

test('imported schemas may use every keyword, of older drafts too (SCHEMA-2)', () => {
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: {
      a: { anyOf: [{ $ref: '#/definitions/A' }, true], if: {}, else: false },
      b: { type: 'number', minimum: 1, exclusiveMinimum: true },
      c: { items: [{ type: 'string' }], additionalItems: false },
      d: { $ref: '#named' },
    },
    patternProperties: { '^x': {} },
    dependencies: { a: ['b'], b: { required: ['a'] } },
    definitions: { A: { properties: { self: { $ref: '#/definitions/A' } } }, N: { $anchor: 'named' } },
    'x-anything': { $ref: 5 },
  }
  expect(verdict(schema, 'imported')).toEqual([])
})

test.each([
  ['https://example.com/a.json', 'unsupported_schema'],
  ['other.json#/a', 'unsupported_schema'],
  ['#/definitions/missing', 'invalid_schema'],
  ['#missing', 'invalid_schema'],
  ['#/title', 'invalid_schema'],
  ['#/__proto__', 'invalid_schema'],
])('an imported schema may not refer to %s (SCHEMA-2)', ($ref, code) => {
  expect(verdict({ title: 'T', items: { $ref } }, 'imported')).toEqual([`/items/$ref ${code}`])
})

test('what a reference names is inspected wherever it stands', () => {
  const schema = { $ref: '#/x-parts/A', 'x-parts': { A: { properties: { a: { type: 'strng' } } } } }
  expect(verdict(schema, 'imported')).toEqual(['/x-parts/A/properties/a/type invalid_schema'])
})

test('keywords of imported schemas still need the right form', () => {
  expect(
    verdict({ anyOf: [], allOf: {}, patternProperties: { '(': {} }, type: 'strng' }, 'imported'),
  ).toEqual([
    '/anyOf invalid_schema',
    '/allOf invalid_schema',
    '/patternProperties/( invalid_schema',
    '/type invalid_schema',
  ])
})

test('__proto__ is not a name for a field (SCHEMA-6)', () => {
  const schema: unknown = JSON.parse('{"properties": {"__proto__": {"type": "string"}}}')
  expect(verdict(schema)).toEqual(['/properties/__proto__ forbidden_key'])
  expect(verdict(schema, 'imported')).toEqual(['/properties/__proto__ forbidden_key'])
})

test('names that objects inherit are no keywords (SCHEMA-6)', () => {
  expect(verdict({ constructor: 1, toString: 2 })).toEqual([
    '/constructor unknown_field',
    '/toString unknown_field',
  ])
  expect(verdict({ type: 'constructor' })).toEqual(['/type invalid_schema'])
})

test('cycles and deep nesting end with one issue (SCHEMA-6)', () => {
  const cycle: Record<string, unknown> = { type: 'object' }
  cycle['properties'] = { a: cycle, b: cycle }
  let deep: unknown = {}
  for (let level = 0; level < 100_000; level++) deep = { items: deep }
  for (const schema of [cycle, deep])
    for (const kind of ['native', 'imported'] as const)
      expect(inspectSchema(schema, kind).map((issue) => issue.code)).toEqual(['too_deep'])
})

test('huge schemas and enums are refused (SCHEMA-6)', () => {
  const properties = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`p${index}`, {}]))
  expect(inspectSchema({ properties }, 'imported').map((issue) => issue.code)).toEqual(['too_large'])
  const values = Array.from({ length: 10_001 }, (_, index) => index)
  expect(verdict({ enum: values })).toEqual(['/enum invalid_schema'])
  expect(verdict({ enum: values.slice(1) })).toEqual([])
  let default_: unknown = 1
  for (let level = 0; level < 10_000; level++) default_ = [default_]
  expect(verdict({ enum: [default_] })).toEqual(['/enum invalid_schema'])
})

test('the schema of an input must be an object schema', () => {
  expect(inspectObjectSchema({ type: 'object' }, 'native')).toEqual([])
  expect(inspectObjectSchema({ type: 'string' }, 'native')).toMatchObject([{ pointer: '/type' }])
  expect(inspectObjectSchema({}, 'imported')).toMatchObject([{ pointer: '/type' }])
})
