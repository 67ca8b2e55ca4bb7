import { SetupError, createRuntime, defineTool, type Json, type JsonSchema, type Tool } from 'handrail'
import { expect, test } from 'vitest'
import { makeSource } from '../../support/make-tool.ts'
import { makeFolder, openRuntime } from '../../support/project.ts'

const manifest = { name: 'demo.tool', description: 'Is a tool.', permission: 'readonly' } as const

/** A tool that gives its input back. */
function echo(rawInput: JsonSchema, output?: JsonSchema): Tool {
  return defineTool({ ...manifest, rawInput, ...(output !== undefined && { output }), run: (input) => input })
}

const withField = (schema: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { v: schema },
  required: ['v'],
})

async function check(schema: JsonSchema, v: unknown) {
  const runtime = await openRuntime({ tools: [echo(withField(schema))] })
  return runtime.session().call('demo.tool', { v })
}

test.each<[string, JsonSchema, readonly unknown[], readonly unknown[]]>([
  ['string', { type: 'string' }, ['', 'a', '😀'], [1, null, true, [], {}]],
  ['number', { type: 'number' }, [0, -1.5, 1e300], ['1', null, true]],
  ['integer', { type: 'integer' }, [0, -3, 1.0], [1.5, '1', null]],
  ['boolean', { type: 'boolean' }, [true, false], [0, 'true', null]],
  ['null', { type: 'null' }, [null], [0, '', false]],
  ['array', { type: 'array', items: { type: 'integer' } }, [[], [1, 2]], [{}, [1, 'a'], '1']],
  [
    'object',
    { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    [{ a: 'x' }, { a: 'x', b: 1 }],
    [[], {}, { a: 1 }],
  ],
  [
    'closed object',
    { type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false },
    [{}, { a: 'x' }],
    [{ b: 1 }],
  ],
  [
    'typed others',
    { type: 'object', additionalProperties: { type: 'integer' } },
    [{}, { a: 1, b: 2 }],
    [{ a: 'x' }],
  ],
  ['several types', { type: ['string', 'null'] }, ['a', null], [1, []]],
  ['nullable', { type: 'string', nullable: true }, ['a', null], [1]],
  [
    'enum',
    { enum: ['a', 1, null, { deep: [1] }] },
    ['a', 1, null, { deep: [1] }],
    ['b', 2, { deep: [2] }, '1'],
  ],
  ['const', { const: 'x' }, ['x'], ['y', null]],
  ['length', { type: 'string', minLength: 2, maxLength: 3 }, ['ab', 'abc', '😀😀'], ['a', 'abcd']],
  ['bounds', { type: 'number', minimum: 1, exclusiveMaximum: 5 }, [1, 4.9], [0.9, 5]],
  ['multiple', { type: 'number', multipleOf: 0.1 }, [0.3, 1], [0.35]],
  [
    'items',
    { type: 'array', minItems: 1, maxItems: 2, uniqueItems: true },
    [[1], [1, '1']],
    [[], [1, 2, 3], [1, 1]],
  ],
  ['pattern', { type: 'string', pattern: '^[a-z]+$' }, ['abc'], ['ABC', 'a1']],
  ['format is a note, no check', { type: 'string', format: 'email' }, ['not a mail address'], [1]],
  [
    'number of members',
    { type: 'object', minProperties: 1, maxProperties: 1 },
    [{ a: 1 }],
    [{}, { a: 1, b: 2 }],
  ],
])('%s is checked on every call (SCHEMA-1, SCHEMA-3)', async (...[, schema, good, bad]) => {
  for (const value of good) expect((await check(schema, value)).data).toEqual({ v: value })
  for (const value of bad) {
    const { error } = await check(schema, value)
    expect(error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_input' })
    expect(error?.issues?.[0]?.pointer).toMatch(/^\/v/)
    expect(error?.issues?.[0]?.message.length).toBeGreaterThan(10)
  }
})

test('nested objects and lists are checked to the bottom, and every issue is named at once (SCHEMA-3)', async () => {
  const tool = echo({
    type: 'object',
    properties: {
      order: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          lines: {
            type: 'array',
            items: {
              type: 'object',
              properties: { sku: { type: 'string' }, 'a/b~c': { type: 'integer' } },
              required: ['sku'],
              additionalProperties: false,
            },
          },
        },
        required: ['lines', 'id'],
        additionalProperties: false,
      },
    },
    required: ['order'],
  })
  const runtime = await openRuntime({ tools: [tool] })
  const result = await runtime.session().call('demo.tool', {
    order: { lines: [{ sku: 1 }, { sku: 'a', 'a/b~c': 'x' }, { extra: true }] },
  })
  const pointers = result.error?.issues?.map((issue) => issue.pointer) ?? []
  expect(pointers.toSorted()).toEqual(
    [
      '/order/id',
      '/order/lines/0/sku',
      '/order/lines/1/a~1b~0c',
      '/order/lines/2/extra',
      '/order/lines/2/sku',
    ].toSorted(),
  )
  const text = result.content.map((block) => (block.type === 'text' ? block.text : '')).join()
  for (const pointer of pointers) expect(text).toContain(pointer)
})

test('an issue says what was found and what to give (SCHEMA-3)', async () => {
  const { error } = await check({ type: 'integer' }, '12')
  expect(error?.issues).toEqual([
    { pointer: '/v', code: 'wrong_type', message: expect.stringMatching(/12.*integer/) },
  ])
  const runtime = await openRuntime({
    tools: [echo({ type: 'object', properties: { path: { type: 'string' } }, additionalProperties: false })],
  })
  const misspelt = await runtime.session().call('demo.tool', { paht: 'x' })
  expect(misspelt.error?.issues?.[0]).toMatchObject({
    pointer: '/paht',
    code: 'unknown_field',
    message: expect.stringContaining('"path"'),
  })
})

test.each<[string, unknown]>([
  ['text that is not JSON', '{"v": '],
  ['a JSON text that is not an object', '[1]'],
  ['a number', 7],
  ['a list', [1]],
  ['null', null],
  ['true', true],
])('an input that is %s is refused (SCHEMA-3)', async (_, input) => {
  const runtime = await openRuntime({ tools: [echo({ type: 'object' })] })
  expect((await runtime.session().call('demo.tool', input)).error?.code).toBe('SCHEMA.VALIDATION_FAILED')
})

test('declared defaults are filled in, at every depth, and never shared between calls (SCHEMA-1)', async () => {
  const tool = defineTool({
    ...manifest,
    rawInput: {
      type: 'object',
      properties: {
        list: { type: 'array', items: { type: 'integer' }, default: [1] },
        deep: { type: 'object', properties: { n: { type: 'integer', default: 5 } } },
      },
    },
    run(input) {
      ;(input['list'] as Json[]).push(99)
      return {
        n: (input['deep'] as { n?: number } | undefined)?.n ?? null,
        length: (input['list'] as Json[]).length,
      }
    },
  })
  const runtime = await openRuntime({ tools: [tool] })
  const session = runtime.session()
  expect((await session.call('demo.tool', { deep: {} })).data).toEqual({ n: 5, length: 2 })
  expect((await session.call('demo.tool', {})).data).toEqual({ n: null, length: 2 })
})

test('outputs are checked like inputs; a wrong one never reaches the model (SCHEMA-3)', async () => {
  const output = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] } as const
  const runtime = await openRuntime({ tools: [echo({ type: 'object' }, output)] })
  const session = runtime.session()
  expect((await session.call('demo.tool', { total: 3 })).ok).toBe(true)
  const wrong = await session.call('demo.tool', { total: 'the-wrong-value' })
  expect(wrong.error).toMatchObject({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_output',
    issues: [{ pointer: '/total' }],
  })
  expect(wrong.data).toBeUndefined()
  expect(wrong.error?.message).toContain('The tool ran')
})

const refused: [string, object][] = [
  ['$ref', { $ref: 'https://example.com/x' }],
  ['definitions', { definitions: {} }],
  ['dependencies', { dependencies: {} }],
  ['a keyword that does not exist', { type: 'string', maxLenght: 3 }],
]

test.each(refused)(
  '%s is refused at registration of a tool of the program, with its pointer (SCHEMA-2)',
  async (_, schema) => {
    const keyword = Object.keys(schema).find((key) => key !== 'type') ?? ''
    const inside: JsonSchema = {
      type: 'object',
      properties: { list: { type: 'array', items: schema as JsonSchema } },
    }
    const error: unknown = await createRuntime({
      project: makeFolder(),
      tools: [echo(inside, withField(schema as JsonSchema))],
    }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SetupError)
    const { code, issues } = error as SetupError
    expect(['unsupported_schema', 'invalid_definition']).toContain(code)
    const escaped = keyword.replaceAll('/', '~1')
    expect(issues.map((issue) => issue.pointer)).toEqual([
      `/demo.tool/inputSchema/properties/list/items/${escaped}`,
      `/demo.tool/outputSchema/properties/v/${escaped}`,
    ])
  },
)

test('every unsupported keyword of a schema is named at once (SCHEMA-2)', async () => {
  const properties = Object.fromEntries(
    refused.map(([name, schema], index) => [`p${index}`, { ...schema, title: name }]),
  )
  const tool = echo({ type: 'object', properties } as JsonSchema)
  const error: unknown = await createRuntime({ project: makeFolder(), tools: [tool] }).catch(
    (thrown: unknown) => thrown,
  )
  expect((error as SetupError).issues).toHaveLength(refused.length)
})

/** A tool as a server describes it. */
function imported(schema: object): Tool {
  const tool = echo({ type: 'object' })
  return {
    ...tool,
    definition: { ...tool.definition, name: 'mcp.server.tool', inputSchema: schema as JsonSchema },
  }
}

async function callImported(schema: object, inputs: readonly unknown[]) {
  const runtime = await openRuntime({
    tools: [makeSource('mcp', 'mcp.server', [imported(schema)])],
    onError: () => {},
  })
  const registered = runtime.registry.find('mcp.server.tool')
  const session = runtime.session()
  const oks = []
  for (const input of inputs) oks.push((await session.call('mcp.server.tool', input)).ok)
  return { oks, registered }
}

test('an imported schema is brought into the subset where that loses nothing (SCHEMA-2)', async () => {
  const schema = {
    type: 'object',
    $defs: { name: { type: 'string', minLength: 2 } },
    properties: { who: { $ref: '#/$defs/name' }, age: { anyOf: [{ type: 'integer' }, { type: 'null' }] } },
    required: ['who'],
  }
  const { oks, registered } = await callImported(schema, [
    { who: 'Ada' },
    { who: 'Ada', age: null },
    { who: 'A' },
    { who: 'Ada', age: 'x' },
  ])
  expect(oks).toEqual([true, true, false, false])
  expect(registered?.fullValidation).toBe(false)
  expect(JSON.stringify(registered?.definition.inputSchema)).not.toMatch(/\$ref|anyOf|\$defs/)
})

test('what cannot be is validated in full, and marked (SCHEMA-2)', async () => {
  const schema = {
    type: 'object',
    properties: {
      at: {
        oneOf: [
          { type: 'string', pattern: '^a' },
          { type: 'object', required: ['x'] },
        ],
      },
    },
    not: { required: ['forbidden'] },
  }
  const { oks, registered } = await callImported(schema, [
    { at: 'abc' },
    { at: { x: 1 } },
    { at: 'b' },
    { at: {} },
    { forbidden: 1 },
  ])
  expect(oks).toEqual([true, true, false, false, false])
  expect(registered?.fullValidation).toBe(true)
})

const tupleAndMore = { prefixItems: [{ type: 'string' }], unevaluatedItems: false }

test.each<[string, object, readonly object[], readonly boolean[]]>([
  [
    'a field that is false',
    { properties: { x: false, y: true } },
    [{}, { y: 1 }, { x: 1 }],
    [true, true, false],
  ],
  [
    'a reference to false',
    { properties: { x: { $ref: '#/$defs/no' } }, $defs: { no: false } },
    [{}, { x: 1 }],
    [true, false],
  ],
  [
    'a required field that is false',
    { properties: { x: false }, required: ['x'] },
    [{}, { x: 1 }],
    [false, false],
  ],
  [
    'items that a deeper schema speaks of',
    { properties: { x: { allOf: [tupleAndMore, { contains: { const: 1 } }] } } },
    [{ x: ['a'] }, { x: ['a', 1] }, { x: [1] }],
    [false, false, false],
  ],
  [
    'items that "contains" speaks of',
    { properties: { x: { prefixItems: [true], contains: { const: 1 }, unevaluatedItems: false } } },
    [{ x: ['a', 1, 1] }, { x: ['a', 1, 2] }],
    [true, false],
  ],
  [
    'fields that an "if" without "then" speaks of',
    { if: { properties: { a: { const: 1 } }, required: ['a'] }, unevaluatedProperties: false },
    [{ a: 1 }, { a: 2 }, {}],
    [true, false, true],
  ],
  [
    'fields that cousins speak of',
    { allOf: [{ properties: { a: true } }, { unevaluatedProperties: false }] },
    [{}, { a: 1 }],
    [true, false],
  ],
  [
    'an anchor within an enum',
    {
      properties: { x: { $ref: '#it' } },
      $defs: { a: { enum: [{ $anchor: 'it', type: 'null' }] }, b: { $anchor: 'it', type: 'string' } },
    },
    [{ x: 'a' }, { x: null }],
    [true, false],
  ],
  [
    'what stands beside a reference in draft 7',
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      properties: { x: { $ref: '#/definitions/a', maxLength: 1 } },
      definitions: { a: { type: 'string' } },
    },
    [{ x: 'abc' }, { x: 1 }],
    [true, false],
  ],
  [
    'what stands beside a reference in draft 2020-12',
    { properties: { x: { $ref: '#/$defs/a', maxLength: 1 } }, $defs: { a: { type: 'string' } } },
    [{ x: 'a' }, { x: 'abc' }],
    [true, false],
  ],
  [
    'the type of draft 3 for anything',
    { properties: { x: { type: 'any' } } },
    [{ x: 1 }, { x: [null] }],
    [true, true],
  ],
  ['an enum without values', { properties: { x: { enum: [] }, y: {} } }, [{ y: 1 }, { x: 1 }], [true, false]],
  [
    'patterns as other languages write them',
    { properties: { x: { pattern: '^[\\w-.]+$' }, y: { pattern: '(?i)^ab\\ c' } } },
    [{ x: 'a-b.c', y: 'AB c' }, { x: 'a b' }, { y: 'abc' }],
    [true, false, false],
  ],
])('an imported schema decides as it says: %s (SCHEMA-2)', async (...[, schema, inputs, expected]) => {
  expect((await callImported({ type: 'object', ...schema }, inputs)).oks).toEqual(expected)
})

test.each<[string, object]>([
  ['a lookbehind', { properties: { x: { pattern: '(?<=a)b' } } }],
  [
    'a document within',
    { properties: { x: { $id: 'https://a.example/x', $ref: '#/$defs/a' } }, $defs: { a: {} } },
  ],
  ['a field that no call may have', { required: ['__proto__'] }],
])('an imported schema with %s is held back with its reason (SCHEMA-2)', async (_, schema) => {
  const reasons: string[] = []
  const runtime = await openRuntime({
    tools: [makeSource('mcp', 'mcp.server', [imported({ type: 'object', ...schema })])],
    onError: ({ cause }) => reasons.push(String(cause)),
  })
  expect(runtime.registry.size).toBe(0)
  expect(reasons).toEqual([expect.stringContaining('"mcp.server.tool" of source "mcp.server" is left out')])
})

test('an imported schema with a remote reference is held back, and the other tools stay (SCHEMA-2)', async () => {
  const remote = imported({ type: 'object', properties: { a: { $ref: 'https://example.com/schema.json' } } })
  const runtime = await openRuntime({
    tools: [makeSource('mcp', 'mcp.server', [remote]), echo({ type: 'object' })],
    onError: () => {},
  })
  expect(runtime.registry.list().map((each) => each.definition.name)).toEqual(['demo.tool'])
})

const repairing: JsonSchema = {
  type: 'object',
  properties: {
    n: { type: 'integer' },
    x: { type: 'number' },
    yes: { type: 'boolean' },
    part: { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
    list: { type: 'array', items: { type: 'integer' } },
    text: { type: 'string' },
  },
  additionalProperties: false,
}

async function turnOf(input: unknown, origin?: 'api') {
  const runtime = await openRuntime({ tools: [echo(repairing)] })
  const { results } = await runtime
    .session()
    .turn([{ tool: 'demo.tool', input }], origin === undefined ? {} : { origin })
  return results[0]
}

test.each<[string, Record<string, Json>, Record<string, Json>]>([
  ['digits where an integer is wanted', { n: '5' }, { n: 5 }],
  ['digits where a number is wanted', { x: '-1.5' }, { x: -1.5 }],
  ['true as text', { yes: 'true' }, { yes: true }],
  ['JSON text where an object is wanted', { part: '{"a": "b"}' }, { part: { a: 'b' } }],
  ['an integer where text is wanted', { text: 5 }, { text: '5' }],
  ['JSON text where a list is wanted', { list: '[1, 2]' }, { list: [1, 2] }],
])('repair of a model call: %s, recorded (SCHEMA-5)', async (...[, input, expected]) => {
  const result = await turnOf(input)
  expect(result?.data).toEqual(expected)
  const pointer = `/${Object.keys(input)[0]}`
  expect(result?.metadata.repairs).toEqual([{ pointer, from: expect.any(String), to: expect.any(String) }])
})

test.each<[string, Record<string, Json>]>([
  ['digits that an integer would round', { n: '5.5' }],
  ['digits too many for a number', { n: '9007199254740993' }],
  ['digits that would print differently', { n: '1.0' }],
  ['a trailing zero', { x: '1.50' }],
  ['text with a unit', { n: '5 items' }],
  ['an empty text', { n: '' }],
  ['hexadecimal digits', { n: '0x10' }],
  ['"yes"', { yes: 'yes' }],
  ['1 as truth', { yes: 1 }],
  ['a fraction where text is wanted', { text: 5.5 }],
  ['JSON text that does not fit', { part: '{"b": 1}' }],
  ['text that is not JSON', { part: 'a: b' }],
  ['a single value where a list is wanted', { list: 1 }],
])('no repair where something would be lost or guessed: %s (SCHEMA-5)', async (_, input) => {
  const result = await turnOf(input)
  expect(result?.error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_input' })
})

test('a call of a program is not repaired (SCHEMA-5)', async () => {
  expect((await turnOf({ n: '5' }, 'api'))?.error?.reason).toBe('invalid_input')
  const clean = await turnOf({ n: 5 })
  expect(clean?.ok).toBe(true)
  expect(clean?.metadata.repairs).toBeUndefined()
})
