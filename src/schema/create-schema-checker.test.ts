import { expect, test } from 'vitest'
import type { JsonSchema, Repair } from '../contract/base/schema.ts'
import { asConstant } from '../kit/schema/constant-schemas.ts'
import { createSchemaChecker } from './create-schema-checker.ts'
import { startProcessorClock } from '../../test/support/processor-clock.ts'

const checker = createSchemaChecker()

/** Issues as `pointer code`, or `ok`. */
function verdict(schema: JsonSchema, value: unknown, repair = false): string[] {
  const checked = checker.check(schema, value, { repair })
  return checked.ok ? ['ok'] : checked.issues.map((issue) => `${issue.pointer} ${issue.code}`)
}

function messages(schema: JsonSchema, value: unknown): string[] {
  const checked = checker.check(schema, value)
  return checked.ok ? [] : checked.issues.map((issue) => issue.message)
}

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

const readFile = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1 },
    start_line: { type: 'integer', minimum: 1 },
    mode: { type: 'string', enum: ['text', 'bytes'], default: 'text' },
    tags: { type: 'array', items: { type: 'string' }, uniqueItems: true },
  },
  required: ['path', 'start_line'],
  additionalProperties: false,
} satisfies JsonSchema

test('a value that fits comes back as the same object (SCHEMA-1)', () => {
  const value = { path: 'a.ts', start_line: 1, mode: 'bytes', tags: ['x', 'y'] }
  const checked = checker.check(readFile, value)
  expect(checked).toEqual({ ok: true, value, repairs: [] })
  expect(checked.ok && checked.value).toBe(value)
})

test('every issue is named at once, with its pointer (SCHEMA-3)', () => {
  const value = { pth: 'a', start_line: 0, mode: 'txt', tags: ['x', 1, 'x'] }
  expect(verdict(readFile, value)).toEqual([
    '/pth unknown_field',
    '/start_line out_of_range',
    '/mode not_allowed',
    '/tags/1 wrong_type',
    '/path missing_field',
  ])
})

test('messages say what was found and what is wanted (SCHEMA-3)', () => {
  const value = { pth: 'a', start_line: '0x5', mode: 'txt', tags: 'x', zebra: null }
  expect(messages(readFile, value)).toEqual([
    'There is no field "pth"; did you mean "path"?',
    'Found the string "0x5"; give an integer.',
    'Found the string "txt"; give "text" or "bytes".',
    'Found the string "x"; give an array.',
    'There is no field "zebra"; the fields are "path", "start_line", "mode" and "tags".',
    'The field "path" is missing; give a string.',
  ])
})

test('the pointer escapes names that hold a slash or a tilde', () => {
  const schema = { properties: { 'a/b~c': { type: 'string' } } } satisfies JsonSchema
  expect(verdict(schema, { 'a/b~c': 1 })).toEqual(['/a~1b~0c wrong_type'])
})

test('at most 50 issues are listed, the rest is counted', () => {
  const schema = { type: 'array', items: { type: 'string' } } satisfies JsonSchema
  const checked = checker.check(schema, Array.from({ length: 60 }).fill(1))
  const issues = checked.ok ? [] : checked.issues
  expect(issues).toHaveLength(51)
  expect(issues.at(-1)).toEqual({ pointer: '', code: 'more_issues', message: 'And 10 more issues.' })
})

const table: [string, JsonSchema, unknown[], unknown[]][] = [
  ['type integer takes whole numbers', { type: 'integer' }, [1, 5.0, -3, 1e20], [1.5, '1', null, true]],
  ['an array of types', { type: ['string', 'null'] }, ['a', null], [1, [], {}]],
  ['nullable', { type: 'string', nullable: true }, ['a', null], [1]],
  ['enum by deep equality', { enum: [{ a: [1] }, 'x', 1] }, [{ a: [1] }, 'x', 1], [{ a: [2] }, '1', null]],
  ['const by deep equality', { const: { a: 1, b: [2] } }, [{ b: [2], a: 1 }], [{ a: 1 }, '{"a":1,"b":[2]}']],
  ['const null', { const: null }, [null], [0, '', false]],
  ['bounds', { minimum: 1, maximum: 3 }, [1, 3, 'text'], [0.9, 3.1]],
  ['exclusive bounds', { exclusiveMinimum: 1, exclusiveMaximum: 3 }, [1.1, 2], [1, 3]],
  ['multipleOf by decimal digits', { multipleOf: 0.1 }, [0.3, 1, -0.7, 1e20], [0.35]],
  ['lengths by code point', { minLength: 2, maxLength: 3 }, ['😀😀', '😀😀😀', 'abc'], ['😀', 'abcd', 'a']],
  ['pattern', { pattern: '^a+$' }, ['aa', 1], ['ab']],
  ['item counts', { minItems: 1, maxItems: 2 }, [[1], [1, 2], 'x'], [[], [1, 2, 3]]],
  [
    'uniqueItems by deep equality',
    { uniqueItems: true },
    [[1, '1', { a: 1 }]],
    [
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
  ],
  ['property counts', { minProperties: 1, maxProperties: 2 }, [{ a: 1 }], [{}, { a: 1, b: 1, c: 1 }]],
  ['required but not declared', { required: ['a'] }, [{ a: 1 }, 'x'], [{}]],
  [
    'additionalProperties as a schema',
    { additionalProperties: { type: 'number' } },
    [{ a: 1 }],
    [{ a: 'x' }],
  ],
  ['absent additionalProperties are open', { properties: {} }, [{ a: 1 }], []],
  ['format is an annotation', { type: 'string', format: 'email' }, ['no mail'], []],
]

test.each(table)('%s (SCHEMA-1)', (...[, schema, good, bad]) => {
  for (const value of good) expect(verdict(schema, value), JSON.stringify(value)).toEqual(['ok'])
  for (const value of bad) expect(verdict(schema, value), JSON.stringify(value)).not.toEqual(['ok'])
})

test('missing fields get their default, in a copy (SCHEMA-1)', () => {
  const schema = {
    type: 'object',
    properties: {
      limit: { type: 'integer', default: 10 },
      options: { type: 'object', properties: { deep: { default: true } }, default: {} },
    },
    required: ['limit'],
  } satisfies JsonSchema
  const value = { other: 1 }
  const checked = checker.check(schema, value)
  expect(checked).toEqual({ ok: true, value: { other: 1, limit: 10, options: { deep: true } }, repairs: [] })
  expect(value).toEqual({ other: 1 })
  const again = checker.check(schema, checked.ok && checked.value)
  expect(again.ok && again.value).toBe(checked.ok && checked.value)
  expect(schema.properties.options.default).toEqual({})
})

test('a default that does not fit its schema is not filled in', () => {
  const schema = { properties: { a: { type: 'string', default: null } } } satisfies JsonSchema
  expect(checker.check(schema, {})).toEqual({ ok: true, value: {}, repairs: [] })
})

test('undefined members count as missing', () => {
  expect(verdict(readFile, { path: undefined, start_line: 1, tags: undefined, other: undefined })).toEqual([
    '/path missing_field',
  ])
})

test.each([
  ['a function', () => 1],
  ['a BigInt', 1n],
  ['a Date', new Date(0)],
  ['a Map', new Map()],
  ['NaN', Number.NaN],
])('%s is not a JSON value, wherever it stands', (_title, value) => {
  expect(verdict({}, value)).toEqual([' not_json'])
  expect(verdict({ type: 'object' }, { a: [value] })).toEqual(['/a/0 not_json'])
})

// --- hostile values ---

test('__proto__ is refused even where other fields are open, and pollutes nothing (SCHEMA-6)', () => {
  const hostile: unknown = JSON.parse('{"__proto__": {"polluted": true}, "a": {"__proto__": 1}}')
  expect(verdict({ type: 'object' }, hostile)).toEqual([
    '/__proto__ forbidden_key',
    '/a/__proto__ forbidden_key',
  ])
  expect(verdict(readFile, hostile)).toContain('/__proto__ forbidden_key')
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
})

test('inherited names are neither fields nor values (SCHEMA-6)', () => {
  const schema: JsonSchema = {
    properties: Object.fromEntries([['toString', { type: 'string' }]]),
    required: ['constructor'],
    additionalProperties: false,
  }
  expect(verdict(schema, {})).toEqual(['/constructor missing_field'])
  expect(verdict(schema, { valueOf: 1, constructor: 1 })).toEqual([
    '/valueOf unknown_field',
    '/constructor unknown_field',
  ])
  expect(verdict({ type: 'object' }, { constructor: 1, prototype: 2 })).toEqual(['ok'])
})

test('deep nesting gives one clear issue (SCHEMA-6)', () => {
  expect(verdict({}, nested(60))).toEqual(['ok'])
  const checked = checker.check({}, nested(100_000))
  expect(!checked.ok && checked.issues.map((issue) => issue.code)).toEqual(['too_deep'])
})

test('cycles and shared parts that explode end at once, with one issue (SCHEMA-6)', () => {
  const cycle: Record<string, unknown> = {}
  Object.assign(cycle, { a: cycle, b: cycle })
  const spentMs = startProcessorClock()
  expect(verdict({}, cycle)).toHaveLength(1)
  let shared: unknown = []
  for (let level = 0; level < 50; level++) shared = [shared, shared]
  expect(verdict({}, shared)).toHaveLength(1)
  expect(spentMs()).toBeLessThan(10_000)
})

test('a huge array of issues stays bounded (SCHEMA-6)', () => {
  const schema = { type: 'array', items: { type: 'string' }, uniqueItems: true } satisfies JsonSchema
  const items = Array.from({ length: 500_000 }, (_, index) => index)
  expect(verdict(schema, items)).toHaveLength(51)
  expect(verdict(schema, items.map(String))).toEqual(['ok'])
})

test('a pattern that makes others hang answers at once (SCHEMA-6)', () => {
  const spentMs = startProcessorClock()
  expect(verdict({ pattern: '^(a+)+$' }, `${'a'.repeat(5000)}!`)).toEqual([' pattern_mismatch'])
  expect(verdict({ pattern: '(a|b)*c(d|e)*f' }, 'ab'.repeat(2_000_000))).toEqual([' too_large'])
  expect(spentMs()).toBeLessThan(10_000)
})

// --- repair ---

function repaired(
  schema: JsonSchema,
  value: unknown,
): { value: unknown; repairs: readonly Repair[] } | 'refused' {
  const checked = checker.check(schema, value, { repair: true })
  return checked.ok ? { value: checked.value, repairs: checked.repairs } : 'refused'
}

test('lossless coercions are applied and recorded (SCHEMA-5)', () => {
  const schema = {
    type: 'object',
    properties: {
      n: { type: 'integer' },
      f: { type: 'number' },
      b: { type: 'boolean' },
      s: { type: 'string' },
      o: { type: 'object', properties: { x: { type: 'integer' } } },
      a: { type: 'array', items: { type: 'integer' } },
    },
  } satisfies JsonSchema
  const value = { n: '5', f: '-0.25', b: 'true', s: 7, o: '{"x": "1"}', a: '[1, "2"]' }
  expect(repaired(schema, value)).toEqual({
    value: { n: 5, f: -0.25, b: true, s: '7', o: { x: 1 }, a: [1, 2] },
    repairs: [
      { pointer: '/n', from: 'string', to: 'integer' },
      { pointer: '/f', from: 'string', to: 'number' },
      { pointer: '/b', from: 'string', to: 'boolean' },
      { pointer: '/s', from: 'integer', to: 'string' },
      { pointer: '/o', from: 'string', to: 'object' },
      { pointer: '/o/x', from: 'string', to: 'integer' },
      { pointer: '/a', from: 'string', to: 'array' },
      { pointer: '/a/1', from: 'string', to: 'integer' },
    ],
  })
  expect(value.n).toBe('5')
})

test('a whole input sent as JSON text is read (SCHEMA-5)', () => {
  expect(repaired(readFile, '{"path": "a", "start_line": 1}')).toEqual({
    value: { path: 'a', start_line: 1, mode: 'text' },
    repairs: [{ pointer: '', from: 'string', to: 'object' }],
  })
})

test.each([
  [
    'integer',
    ['5.0', '1e3', ' 5', '0x5', '9007199254740993', '05', '+5', '', '1.5', 'NaN', 'Infinity', '-0'],
  ],
  ['number', ['5.0', '1e3', '.5', '5.', 'Infinity', '0.1000000000000000055511151231257827']],
  ['boolean', ['True', '1', 'yes', 1, 0]],
  ['object', ['{', '[]', '{"a": 9007199254740993}', 'text']],
  ['array', ['{}', '1,2', 'x', 5]],
  ['string', [5.5, -0, 9_007_199_254_740_992, true, null, {}, []]],
] as const)('what would lose something is not coerced to %s (SCHEMA-5)', (type, values) => {
  const schema: JsonSchema = { type }
  for (const value of values) expect(repaired(schema, value), JSON.stringify(value)).toBe('refused')
})

test('a value that is valid as it stands is left alone (SCHEMA-5)', () => {
  expect(repaired({ type: ['string', 'integer'] }, '5')).toEqual({ value: '5', repairs: [] })
  expect(verdict({ type: 'integer' }, '5')).toEqual([' wrong_type'])
})

test('JSON text cannot smuggle __proto__ in (SCHEMA-6)', () => {
  expect(verdict({ type: 'object' }, '{"__proto__": {"x": 1}}', true)).toEqual(['/__proto__ forbidden_key'])
})

// --- schemas outside the subset ---

/** An imported schema may have keywords that the type of the subset lacks. */
function imported(schema: object): JsonSchema {
  return schema as JsonSchema
}

test('a schema outside the subset is validated in full (SCHEMA-2)', () => {
  const schema = imported({
    type: 'object',
    properties: {
      id: {
        anyOf: [{ type: 'string', minLength: 3 }, { type: 'string', pattern: '^x' }, { type: 'integer' }],
      },
      n: { type: 'integer', default: 3 },
    },
    required: ['id'],
    additionalProperties: false,
    dependentRequired: { n: ['m'] },
    patternProperties: { '^m$': { type: 'string' } },
  })
  expect(verdict(schema, { id: 'abc', n: 1, m: '' })).toEqual(['ok'])
  expect(verdict(schema, { id: 'a', n: 'x', o: 1 })).toEqual([
    '/n wrong_type',
    '/m missing_field',
    '/id not_allowed',
    '/o unknown_field',
  ])
  expect(repaired(schema, { id: 1, n: '5', m: 'y' })).toEqual({
    value: { id: 1, n: 5, m: 'y' },
    repairs: [{ pointer: '/n', from: 'string', to: 'integer' }],
  })
})

test('a failed choice tells what each of its forms misses (SCHEMA-3)', () => {
  const schema = imported({ properties: { id: { anyOf: [{ required: ['a'] }, { minProperties: 2 }] } } })
  expect(messages(schema, { id: {} })).toEqual([
    'Fits none of the allowed forms. (/a: The field "a" is missing.) or (Found 0 fields; give at least 2.)',
  ])
})

test('a value that fits several forms of oneOf is told so (SCHEMA-3)', () => {
  const schema = imported({ oneOf: [{ minimum: 1 }, { minimum: 2 }] })
  expect(messages(schema, 3)).toEqual(['Fits more than one of the allowed forms; it must fit one.'])
})

test('items after a tuple have their own schema (SCHEMA-2)', () => {
  const schema = imported({ prefixItems: [{ type: 'string' }], items: { type: 'number' } })
  expect(verdict(schema, ['a', 1])).toEqual(['ok'])
  expect(verdict(schema, [1, 'a'])).toEqual(['/0 wrong_type', '/1 wrong_type'])
})

test('recursive schemas are validated to their end (SCHEMA-2)', () => {
  const schema = imported({
    type: 'object',
    properties: { root: { $ref: '#/definitions/node' } },
    definitions: {
      node: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          children: { type: 'array', items: { $ref: '#/definitions/node' } },
        },
        required: ['name'],
      },
    },
  })
  const tree = (name: unknown): unknown => ({
    root: { name: 'a', children: [{ name: 'b', children: [{ name }] }] },
  })
  expect(verdict(schema, tree('c'))).toEqual(['ok'])
  expect(verdict(schema, tree(1))).toEqual(['/root/children/0/children/0/name wrong_type'])
})

test.each([
  ['references that multiply', bomb(40), {}],
  [
    'choices that multiply with depth',
    { anyOf: [{ items: { $ref: '#' } }, { items: { $ref: '#' } }], not: {} },
    deepArray(40),
  ],
  ['a reference to itself', { allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { $ref: '#/$defs/a' } } }, {}],
  [
    'a recursive choice over deep data',
    {
      $ref: '#/$defs/a',
      $defs: {
        a: {
          anyOf: [
            { items: { $ref: '#/$defs/a' }, type: 'array' },
            { items: { $ref: '#/$defs/a' }, minItems: 1 },
            { const: 2 },
          ],
        },
      },
    },
    deepArray(40),
  ],
  ['catastrophic patterns', { not: { pattern: '^(a|a)*$' } }, `${'a'.repeat(100_000)}b`],
])('%s cannot hang the full validation (SCHEMA-6)', (_title, schema, value) => {
  const spentMs = startProcessorClock()
  expect(verdict(imported(schema), value)).toHaveLength(1)
  expect(spentMs()).toBeLessThan(10_000)
})

function bomb(levels: number): object {
  const $defs: Record<string, object> = { [`d${levels}`]: { not: { const: 1 } } }
  for (let level = 0; level < levels; level++) {
    const next = { $ref: `#/$defs/d${level + 1}` }
    $defs[`d${level}`] = { anyOf: [{ allOf: [next, next], minProperties: 1 }, { allOf: [next, next] }] }
  }
  return { $ref: '#/$defs/d0', $defs }
}

function deepArray(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

test('a schema that cannot be used is refused by name, not run', () => {
  const schema = imported({ anyOf: [{ $ref: 'https://example.com/schema.json' }, { type: 'string' }] })
  expect(() => checker.check(schema, 1)).toThrow(/"https:\/\/example.com\/schema.json" leaves the schema/)
})

test('names that objects inherit do not disturb the full validation (SCHEMA-6)', () => {
  const schema = imported({ not: { const: { a: 1 } }, properties: { constructor: { not: { enum: [{}] } } } })
  expect(verdict(schema, { toString: 1, valueOf: 2 })).toEqual(['ok'])
  expect(verdict(schema, { constructor: {} })).toEqual(['/constructor not_allowed'])
})

test('more schemas than are kept still give right answers', () => {
  const small = createSchemaChecker({ maxCompiled: 4 })
  const schemas = Array.from({ length: 20 }, (_, index) =>
    imported(index % 2 === 0 ? { minimum: index } : { not: { const: index } }),
  )
  for (let round = 0; round < 3; round++)
    for (const [index, schema] of schemas.entries()) {
      expect(small.check(schema, index % 2 === 0 ? index : index + 1).ok).toBe(true)
      expect(small.check(schema, index % 2 === 0 ? index - 1 : index).ok).toBe(false)
    }
})

test('a schema that is a part of the program is compiled once for all checkers, any other by each', () => {
  let reads = 0
  const counted = (): JsonSchema => ({
    get type() {
      reads++
      return 'string' as const
    },
  })
  const readsOf = (schema: JsonSchema): number => {
    const before = reads
    expect(createSchemaChecker().check(schema, 'a').ok).toBe(true)
    return reads - before
  }
  const [constant, other] = [asConstant(counted()), counted()]
  expect([readsOf(constant) > 0, readsOf(constant)]).toEqual([true, 0])
  expect([readsOf(other) > 0, readsOf(other) > 0]).toEqual([true, true])
})
