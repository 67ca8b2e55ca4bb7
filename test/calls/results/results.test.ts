import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, defineTool, resultText, toolOutput, toWireResult, type ToolReturn } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder, openRuntime, personSaying } from '../../support/project.ts'

/** A session with one read-only tool that returns what it is told to. */
async function sessionReturning(
  value: () => ToolReturn | Promise<ToolReturn>,
  options: Parameters<typeof openRuntime>[0] = {},
) {
  const tool = defineTool({
    name: 'demo.give',
    description: 'Gives something.',
    permission: 'readonly',
    run: value,
  })
  const runtime = await openRuntime({ tools: [tool], ...options })
  return { runtime, call: () => runtime.session().call('demo.give') }
}

test.each<[string, ToolReturn]>([
  ['a string', 'text'],
  ['a number', 5],
  ['false', false],
  ['null', null],
  ['an array', [1, 'two']],
  ['an object', { a: { b: [1] } }],
])('%s is wrapped into a result (SDK-3, OUT-1)', async (_, value) => {
  const { call } = await sessionReturning(() => value)
  const result = await call()
  expect(result).toMatchObject({ ok: true, outcome: 'ok', data: value, artifacts: [] })
  expect(resultText(result)).toBe(typeof value === 'string' ? value : JSON.stringify(value))
})

test('the full form carries blocks, data, summary and metadata; text is derived from the blocks (OUT-1)', async () => {
  const { call } = await sessionReturning(() =>
    toolOutput({
      content: [
        { type: 'text', text: 'one' },
        { type: 'json', json: { two: 2 } },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
        { type: 'resource', uri: 'file:///three', name: 'three' },
      ],
      data: { n: 4 },
      summary: 'four things',
      metadata: { source: 'test' },
    }),
  )
  const result = await call()
  expect(result).toMatchObject({
    data: { n: 4 },
    summary: 'four things',
    metadata: { tool: { source: 'test' } },
  })
  expect(resultText(result)).toBe(
    'one\n{"two":2}\n[image image/png, 2 bytes, sha256:8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4, the bytes are no image/png]\n[resource file:///three]',
  )
})

test('ordinary data with a field named content is data (OUT-1)', async () => {
  const { call } = await sessionReturning(() => ({ content: [{ type: 'text', text: 'x' }], error: 'none' }))
  expect((await call()).data).toEqual({ content: [{ type: 'text', text: 'x' }], error: 'none' })
})

test('a tool can fail and still give content (OUT-1, SDK-1)', async () => {
  const { call } = await sessionReturning(() =>
    toolOutput({
      content: 'what I found so far',
      error: { reason: 'half_done', message: 'The second half is missing.' },
    }),
  )
  const result = await call()
  expect(result).toMatchObject({
    ok: false,
    outcome: 'failed',
    error: { code: 'TOOL.FAILED', reason: 'half_done' },
  })
  expect(resultText(result)).toMatch(/TOOL\.FAILED \(half_done\).*\nwhat I found so far/)
})

test('on the wire a result speaks snake_case and is_error (OUT-1, SDK-8)', async () => {
  const { call } = await sessionReturning(() => Promise.reject(new Error('no')))
  const wire = toWireResult(await call())
  expect(wire).toMatchObject({
    ok: false,
    is_error: true,
    outcome: 'failed',
    error: { code: 'TOOL.FAILED', reason: 'failed' },
  })
  expect(wire['tool_call_id']).toBe(wire['call_id'])
})

const decimal = { toJSON: () => '12.50' }
test.each<[string, unknown, unknown]>([
  ['a Date', [new Date(0)], ['1970-01-01T00:00:00.000Z']],
  ['what has toJSON', { price: decimal }, { price: '12.50' }],
  ['a BigInt', { n: 2n ** 60n }, { n: '1152921504606846976' }],
  ['a Map with names', { m: new Map([['a', new Map([[1, 2]])]]) }, { m: { a: { 1: 2 } } }],
  ['a Map of objects', { m: new Map([[{ id: 1 }, 2]]) }, { m: [[{ id: 1 }, 2]] }],
  ['a Set', new Set([1, 1, 2]), [1, 2]],
  [
    'bytes',
    { b: Buffer.from('hi'), c: new Uint16Array([1]), d: new ArrayBuffer(1) },
    { b: 'aGk=', c: 'AQA=', d: 'AA==' },
  ],
  ['an Error', new RangeError('far'), { name: 'RangeError', message: 'far' }],
  ['what is not a number', { n: Number.NaN, i: -Infinity }, { n: null, i: null }],
  ['undefined', { gone: undefined, kept: [undefined] }, { kept: [null] }],
  [
    'an instance of a class',
    new (class Point {
      x = 1
      y = 2
    })(),
    { x: 1, y: 2 },
  ],
])('%s in a result arrives as JSON (OUT-1)', async (_, value, data) => {
  const { call } = await sessionReturning(() => value as ToolReturn)
  const result = await call()
  expect(result.data).toEqual(data)
  expect(resultText(result)).toBe(JSON.stringify(data))
})

const cycle: { self?: unknown } = {}
cycle.self = cycle
const revoked = Proxy.revocable({}, {})
revoked.revoke()
test.each<[string, unknown, string]>([
  ['a cycle', { a: cycle }, '/a/self'],
  ['a function', { f: () => 1 }, '/f'],
  ['a symbol', Symbol('s'), ''],
  ['a regular expression', { r: /x/ }, '/r'],
  ['a generator', (function* () {})(), ''],
  ['an async generator in a field', { rows: (async function* () {})() }, '/rows'],
  [
    'a getter that throws',
    {
      a: {
        get b() {
          throw new Error('no')
        },
      },
    },
    '/a',
  ],
  ['a revoked Proxy', [revoked.proxy], '/0'],
  ['an array of billions', { list: Object.assign([], { length: 4e9 }) }, '/list'],
  ['more than 128 levels', nest(200), '/a'.repeat(128)],
])(
  '%s in a result is a typed error that names the place and says that the tool ran (OUT-1)',
  async (_, value, pointer) => {
    const { call } = await sessionReturning(() => value as ToolReturn)
    const result = await call()
    expect(result.error).toMatchObject({
      code: 'SCHEMA.VALIDATION_FAILED',
      reason: 'result_not_serialisable',
      actor: 'developer',
      issues: [{ pointer }],
    })
    expect(result.error?.message).toContain('The tool ran, and what it did stands')
  },
)

function nest(levels: number): object {
  return levels === 0 ? {} : { a: nest(levels - 1) }
}

test('data that does not fit the output schema is withheld (SCHEMA-3)', async () => {
  const tool = defineTool({
    name: 'demo.typed',
    description: 'Promises a number.',
    permission: 'readonly',
    output: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    run: () => ({ n: 'five' }),
  })
  const runtime = await openRuntime({ tools: [tool] })
  const result = await runtime.session().call('demo.typed')
  expect(result.error).toMatchObject({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_output',
    issues: [{ pointer: '/n' }],
  })
  expect(result.data).toBeUndefined()
})

test('long text becomes head, tail and an artifact with the whole (OUT-2)', async () => {
  const whole = Array.from({ length: 5_000 }, (_, line) => `line ${line} – ünïcödé`).join('\n')
  const dir = makeFolder()
  const { runtime, call } = await sessionReturning(() => whole, {
    artifacts: { dir },
    limits: { inlineBytes: 4_000 },
  })
  const result = await call()
  const text = resultText(result)
  expect(text).toContain('line 0 –')
  expect(text).toContain('line 4999 –')
  expect(text).not.toContain('�')
  expect(Buffer.byteLength(text)).toBeLessThan(4_500)
  const [artifact] = result.artifacts
  expect(artifact).toMatchObject({ bytes: Buffer.byteLength(whole), mimeType: 'text/plain' })
  expect(result.metadata.truncated).toMatchObject({ bytes: Buffer.byteLength(whole) })
  const kept = await runtime.artifacts.get(artifact?.digest ?? '')
  expect(Buffer.from(kept ?? []).toString()).toBe(whole)
  expect(readdirSync(dir, { recursive: true }).length).toBeGreaterThan(0)
})

test('a large file that is read stays in the result: it exists already (OUT-2, FILE-1)', async () => {
  const project = makeFolder({ 'big.txt': 'x'.repeat(60) + '\n'.concat(`${'y'.repeat(60)}\n`.repeat(900)) })
  const runtime = await openRuntime({ project, tools: [codeTools()], limits: { inlineBytes: 1_000 } })
  const result = await runtime.session().call('code.read_file', { path: 'big.txt', max_lines: 900 })
  expect(result.artifacts).toEqual([])
  expect(resultText(result).length).toBeGreaterThan(50_000)
})

test('more than a tool may return is an error, not a flood (OUT-2, DEF-5)', async () => {
  const tool = defineTool({
    name: 'demo.flood',
    description: 'Floods.',
    permission: 'readonly',
    limits: { maxBytesOut: 1_000 },
    run: () => 'x'.repeat(2_000),
  })
  const runtime = await openRuntime({ tools: [tool] })
  expect((await runtime.session().call('demo.flood')).error).toMatchObject({
    code: 'TOOL.FAILED',
    reason: 'output_too_large',
  })
})

// Put together here, so that no scanner takes this file for a leak.
const tokens = {
  aws: ['AKIA', 'ABCDEFGHIJKLMNOP'].join(''),
  google: ['AIza', 'SyA1234567890abcdefghijklmnopqrstuv'].join(''),
  github: ['ghp_', 'abcdefghijklmnopqrstuvwxyz0123456789'].join(''),
  jwt: ['eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiIxMjM0NTY3ODkwIn0', 'dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P'].join('.'),
  bearer: `Authorization: Bearer ${'abcdef0123456789'.repeat(2)}`,
  key: ['-----BEGIN PRIVATE', 'KEY-----\nMIIEvQIBADANBgkqhkiG9w0\n-----END PRIVATE KEY-----'].join(' '),
}

test.each(Object.entries(tokens))(
  'a token of the shape %s never reaches result, evidence, archive or events (OUT-4)',
  async (_, token) => {
    const home = makeFolder()
    const secretPart = token.slice(-20)
    const events: string[] = []
    const tool = defineTool({
      name: 'demo.leak',
      description: 'Gives back what it was given.',
      permission: 'readonly',
      input: { type: 'object', properties: { text: { type: 'string' } } },
      run({ text = '' }, context) {
        context.progress({ message: text })
        return { nested: [{ [`key ${text}`]: `before ${text} after` }] }
      },
    })
    const runtime = await openRuntime({
      tools: [tool],
      store: { path: join(home, 's.db') },
      archive: { dir: join(home, 'runs') },
      onEvent: (event) => events.push(JSON.stringify(event)),
    })
    const result = await runtime.session().call('demo.leak', { text: token })
    expect(JSON.stringify(result)).toContain('[redacted]')
    await runtime.close()
    const everything = [JSON.stringify(result), ...events, ...readFiles(home)].join('\n')
    expect(everything).not.toContain(secretPart)
  },
)

test.each<[string, (secret: string) => string]>([
  ['as it is', (secret) => secret],
  ['in base64', (secret) => Buffer.from(`user:${secret}!`).toString('base64')],
  ['URL encoded', (secret) => encodeURIComponent(secret)],
  ['in an error message', (secret) => `refused: ${secret}`],
])('a secret that the host handed out is redacted %s (OUT-4)', async (how, encode) => {
  const secret = 'correct horse/battery staple'
  const tool = defineTool({
    name: 'demo.use',
    description: 'Uses a secret.',
    permission: 'readonly',
    sideEffect: 'read',
    capabilities: { secrets: ['API_KEY'] },
    run(context) {
      const text = encode(context.secret('API_KEY'))
      if (how === 'in an error message') throw new Error(text)
      return { text }
    },
  })
  const home = makeFolder()
  const runtime = await openRuntime({
    tools: [tool],
    secrets: { API_KEY: secret },
    store: { path: join(home, 's.db') },
  })
  const result = await runtime.session().call('demo.use')
  await runtime.close()
  const everything = [JSON.stringify(result), ...readFiles(home)].join('\n')
  expect(everything).toContain('[redacted]')
  expect(everything).not.toContain(encode(secret).slice(8, 24))
})

test('a secret in the name of a tool that is not there stands in no answer and no record, nor does a part of it (OUT-4)', async () => {
  const home = makeFolder()
  const secret = 'correct-horse-battery-staple'
  const runtime = await openRuntime({ secrets: { API_KEY: secret }, store: { path: join(home, 's.db') } })
  const result = await runtime.session().call(`${'x'.repeat(90)}${secret}`)
  await runtime.close()
  expect([result.error?.reason, result.tool]).toEqual(['tool_not_available', `${'x'.repeat(90)}[redacted]`])
  expect([JSON.stringify(result), ...readFiles(home)].join('\n')).not.toContain('correct-ho')
})

test('a secret that the manifest does not name is not handed out (OUT-4)', async () => {
  const { call } = await sessionReturning(() => 'x', {})
  expect((await call()).ok).toBe(true)
  const tool = defineTool({
    name: 'demo.peek',
    description: 'Peeks.',
    permission: 'readonly',
    run: (context) => context.secret('API_KEY'),
  })
  const runtime = await openRuntime({ tools: [tool], secrets: { API_KEY: 'correct horse' } })
  const result = await runtime.session().call('demo.peek')
  expect(result.ok).toBe(false)
  expect(result.error?.message).toContain('does not name the secret')
})

test('what a person is shown is redacted too (OUT-4)', async () => {
  const person = personSaying('deny')
  const runtime = await openRuntime({
    tools: [codeTools()],
    approve: person.approve,
    secrets: { DB: 'hunter2-hunter2' },
  })
  await runtime.session().call('code.write_file', { path: 'a.txt', content: 'password = hunter2-hunter2\n' })
  expect(JSON.stringify(person.asked)).not.toContain('hunter2-hunter2')
  expect(person.asked[0]?.preview.body).toContain('[redacted]')
})

function readFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
}
