import { SetupError, createRuntime, defineTool, type JsonSchema, type Tool } from 'handrail'
import { expect, test } from 'vitest'
import { makeSource } from '../../support/make-tool.ts'
import { makeFolder, openRuntime } from '../../support/project.ts'
import { startProcessorClock } from '../../support/processor-clock.ts'

const manifest = { name: 'demo.tool', description: 'Is a tool.', permission: 'readonly' } as const
/** Far above what it takes, far below what a hang takes. */
const muchMs = 5_000

function echo(rawInput: JsonSchema): Tool {
  return defineTool({ ...manifest, rawInput, run: (input) => JSON.stringify(input).length })
}

async function callWith(schema: JsonSchema, input: unknown) {
  const runtime = await openRuntime({ tools: [echo(schema)], limits: { maxBytesIn: 64 * 1024 * 1024 } })
  const spentMs = startProcessorClock()
  const result = await runtime.session().call('demo.tool', input)
  expect(spentMs()).toBeLessThan(muchMs)
  return result
}

/** Registers a tool with this schema, as the program's own and as a server's; gives what became of both. */
async function registerBoth(schema: unknown) {
  const spentMs = startProcessorClock()
  const own: unknown = await createRuntime({
    project: makeFolder(),
    tools: [echo(schema as JsonSchema)],
  }).catch((thrown: unknown) => thrown)
  const tool = echo({ type: 'object' })
  const theirs = { ...tool, definition: { ...tool.definition, inputSchema: schema as JsonSchema } }
  const runtime = await openRuntime({ tools: [makeSource('mcp', 'mcp.evil', [theirs])], onError: () => {} })
  expect(spentMs()).toBeLessThan(muchMs)
  return { own, imported: runtime.registry.find('demo.tool') }
}

function nest(depth: number, step: (inner: unknown) => unknown, inner: unknown): unknown {
  let value = inner
  for (let level = 0; level < depth; level++) value = step(value)
  return value
}

const unpolluted = () => {
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  expect(Object.keys(Object.prototype)).toEqual([])
}

test.each<[string, (inner: unknown) => unknown]>([
  ['objects', (inner) => ({ a: inner })],
  ['lists', (inner) => [inner]],
])('an input of 100,000 nested %s is refused (SCHEMA-6)', async (_, step) => {
  const result = await callWith({ type: 'object' }, { v: nest(100_000, step, 1) })
  expect(result.error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED' })
})

test('the JSON text of an input nested as deeply is refused too (SCHEMA-6)', async () => {
  const text = `{"v":${'['.repeat(100_000)}${']'.repeat(100_000)}}`
  expect((await callWith({ type: 'object' }, text)).error?.code).toBe('SCHEMA.VALIDATION_FAILED')
})

test('an output nested as deeply is refused (SCHEMA-6)', async () => {
  const tool = defineTool({ ...manifest, run: () => nest(100_000, (inner) => [inner], 1) as never })
  const runtime = await openRuntime({ tools: [tool] })
  expect((await runtime.session().call('demo.tool')).ok).toBe(false)
})

test('an input that contains itself is refused (SCHEMA-6)', async () => {
  const input: Record<string, unknown> = {}
  input['self'] = input
  expect((await callWith({ type: 'object' }, input)).error?.code).toBe('SCHEMA.VALIDATION_FAILED')
})

test.each<[string, unknown]>([
  [
    'a getter that throws',
    Object.defineProperty({}, 'v', {
      enumerable: true,
      get: () => {
        throw new Error('trap')
      },
    }),
  ],
  [
    'a proxy that throws',
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('trap')
        },
      },
    ),
  ],
  [
    'toJSON that throws',
    {
      toJSON: () => {
        throw new Error('trap')
      },
    },
  ],
  ['a function', { v: () => 1 }],
  ['a symbol', { v: Symbol('v') }],
])('an input with %s is a result, not a crash (SCHEMA-6)', async (_, input) => {
  const runtime = await openRuntime({ tools: [echo({ type: 'object' })], onError: () => {} })
  const result = await runtime.session().call('demo.tool', input)
  expect(result.ok).toBe(false)
  expect(result.content.length).toBeGreaterThan(0)
})

test.each([
  '{"__proto__": {"polluted": true}}',
  '{"v": {"__proto__": {"polluted": true}}}',
  '{"v": [{"__proto__": {"polluted": true}}]}',
  '{"constructor": {"prototype": {"polluted": true}}}',
])('%s pollutes nothing (SCHEMA-6)', async (text) => {
  const seen: unknown[] = []
  const tool = defineTool({
    ...manifest,
    rawInput: { type: 'object' },
    run(input) {
      seen.push(input)
      return Object.assign({}, input)
    },
  })
  const runtime = await openRuntime({ tools: [tool] })
  for (const input of [text, JSON.parse(text)]) {
    const result = await runtime.session().call('demo.tool', input)
    expect(result.ok).toBe(text.includes('constructor'))
  }
  for (const input of seen) expect((input as { polluted?: boolean }).polluted).toBeUndefined()
  unpolluted()
})

test('a schema with __proto__ as a property is refused and pollutes nothing (SCHEMA-6)', async () => {
  const schema: unknown = JSON.parse(
    '{"type":"object","properties":{"__proto__":{"type":"object","default":{"polluted":true}}}}',
  )
  const { own, imported } = await registerBoth(schema)
  expect(own).toBeInstanceOf(SetupError)
  expect(imported).toBeUndefined()
  unpolluted()
})

test('a property of an object that nobody declared is never found on the prototype (SCHEMA-6)', async () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { a: { type: 'string' } },
    additionalProperties: false,
  }
  for (const field of ['toString', 'constructor', 'valueOf', 'hasOwnProperty'])
    expect((await callWith(schema, { [field]: 1 })).error?.issues).toMatchObject([
      { pointer: `/${field}`, code: 'unknown_field' },
    ])
  const required = await callWith(
    { type: 'object', properties: { ['toString']: { type: 'string' } as const }, required: ['toString'] },
    {},
  )
  expect(required.error?.issues).toMatchObject([{ pointer: '/toString' }])
})

test.each([
  ['^(a+)+$', `${'a'.repeat(40)}!`],
  ['^(a|aa)+$', `${'a'.repeat(60)}!`],
  ['^(.*a){20}$', 'a'.repeat(200)],
  ['(x+x+)+y', 'x'.repeat(5_000)],
  ['^([a-zA-Z0-9]+\\s?)+$', `${'word '.repeat(40)}!`],
])('the pattern %s hangs nothing (SCHEMA-6, PL-05)', async (pattern, text) => {
  const schema: JsonSchema = { type: 'object', properties: { v: { type: 'string', pattern } } }
  const { own, imported } = await registerBoth(schema)
  if (!(own instanceof SetupError)) expect((await callWith(schema, { v: text })).toolCallId).not.toBe('')
  if (imported === undefined) return
  const tool = { ...echo({ type: 'object' }) }
  const theirs = { ...tool, definition: { ...tool.definition, inputSchema: schema } }
  const runtime = await openRuntime({ tools: [makeSource('mcp', 'mcp.evil', [theirs])], onError: () => {} })
  const spentMs = startProcessorClock()
  await runtime.session().call('demo.tool', { v: text })
  expect(spentMs()).toBeLessThan(muchMs)
})

test.each<[string, unknown]>([
  [
    '5,000 levels',
    nest(5_000, (inner) => ({ type: 'object', properties: { a: inner } }), { type: 'string' }),
  ],
  [
    '5,000 levels of items',
    { type: 'object', properties: { a: nest(5_000, (inner) => ({ type: 'array', items: inner }), {}) } },
  ],
  [
    '100,000 values of an enum',
    {
      type: 'object',
      properties: { a: { enum: Array.from({ length: 100_000 }, (_, index) => `v${index}`) } },
    },
  ],
  [
    '100,000 properties',
    {
      type: 'object',
      properties: Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`p${index}`, {}])),
    },
  ],
  ['a reference to itself', { type: 'object', $ref: '#' }],
  [
    'references in a circle',
    {
      type: 'object',
      properties: { a: { $ref: '#/$defs/a' } },
      $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } },
    },
  ],
  ['a pattern that is none', { type: 'object', properties: { a: { type: 'string', pattern: '(' } } }],
  ['no schema at all', 'object'],
  ['a list', []],
  ['true', true],
])(
  'a schema with %s is refused or held back in time, and stops nothing else (SCHEMA-6)',
  async (_, schema) => {
    const { own } = await registerBoth(schema)
    expect(own).toBeInstanceOf(SetupError)
    expect((own as SetupError).message.length).toBeLessThan(50_000)
  },
)

test('references that multiply work, and cost nothing (SCHEMA-6)', async () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { v: { $ref: '#/$defs/d0' } },
    $defs: Object.fromEntries(
      Array.from({ length: 40 }, (_, level) => [
        `d${level}`,
        level === 39
          ? { type: 'string' }
          : {
              type: 'object',
              properties: { a: { $ref: `#/$defs/d${level + 1}` }, b: { $ref: `#/$defs/d${level + 1}` } },
            },
      ]),
    ),
  }
  expect((await callWith(schema, { v: { a: { b: {} } } })).ok).toBe(true)
  expect((await callWith(schema, { v: { a: { b: 1 } } })).error?.issues).toMatchObject([
    { pointer: '/v/a/b' },
  ])
})

test('an enum of 5,000 values works, and its issues stay short (SCHEMA-6)', async () => {
  const values = Array.from({ length: 5_000 }, (_, index) => `value-${index}`)
  const schema: JsonSchema = { type: 'object', properties: { v: { enum: values } } }
  expect((await callWith(schema, { v: 'value-4999' })).ok).toBe(true)
  const wrong = await callWith(schema, { v: 'value-5000' })
  expect(wrong.ok).toBe(false)
  expect(JSON.stringify(wrong).length).toBeLessThan(5_000)
})

test('an input with 100,000 issues gives a short answer (SCHEMA-6)', async () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: { v: { type: 'array', items: { type: 'integer' } } },
  }
  const result = await callWith(schema, { v: Array.from({ length: 100_000 }, () => 'x') })
  expect(result.error?.issues?.length).toBeLessThan(100)
  expect(JSON.stringify(result).length).toBeLessThan(50_000)
})

test('a field name of a million characters gives a short answer (SCHEMA-6)', async () => {
  const schema: JsonSchema = { type: 'object', properties: {}, additionalProperties: false }
  const result = await callWith(schema, { ['k'.repeat(1_000_000)]: 1 })
  expect(result.ok).toBe(false)
  expect(JSON.stringify(result.content).length).toBeLessThan(20_000)
})
