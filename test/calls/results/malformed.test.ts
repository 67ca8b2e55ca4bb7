import { defineTool, resultText, ToolFailure, type ErrorCode, type ToolReturn } from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import { expect, onTestFinished, test, vi } from 'vitest'
import { openRuntime, personSaying } from '../../support/project.ts'

const digest = `sha256:${'0'.repeat(64)}`
const cycle: { self?: unknown } = {}
cycle.self = cycle
const revoked = Proxy.revocable({}, {})
revoked.revoke()
const endless: unknown[] = []
endless.length = 2 ** 32 - 1
function* forever(): Generator<number> {
  for (;;) yield 1
}
const mark = Symbol.for('handrail.output')
const shape = (fields: object): unknown => ({ [mark]: true, content: [], ...fields })

/** What a tool may give that has the form of no `ToolOutput`, and what is wrong with it; all keyed writes of one runtime. */
const malformed: readonly (readonly [string, () => unknown, reason: string, pointer: string])[] = [
  ['content that is null', () => shape({ content: null }), 'invalid_output', '/content'],
  ['content that is a number', () => shape({ content: 5 }), 'invalid_output', '/content'],
  ['no content', () => ({ [mark]: true }), 'invalid_output', '/content'],
  ['a block that is null', () => shape({ content: [null] }), 'invalid_output', '/content/0'],
  ['a block that is a text', () => shape({ content: ['x'] }), 'invalid_output', '/content/0'],
  [
    'a text block without text',
    () => shape({ content: [{ type: 'text' }] }),
    'invalid_output',
    '/content/0/text',
  ],
  [
    'a text that is a number',
    () => shape({ content: [{ type: 'text', text: 5 }] }),
    'invalid_output',
    '/content/0/text',
  ],
  [
    'a block of an unknown type',
    () => shape({ content: [{ type: 'video' }] }),
    'invalid_output',
    '/content/0',
  ],
  [
    'an image without data',
    () => shape({ content: [{ type: 'image', mimeType: 'image/png' }] }),
    'invalid_output',
    '/content/0/data',
  ],
  [
    'an image that is a data URL',
    () => shape({ content: [{ type: 'image', data: 'data:image/png;base64,aGk=', mimeType: 'image/png' }] }),
    'invalid_output',
    '/content/0/data',
  ],
  [
    'a reference to no artifact',
    () => shape({ content: [{ type: 'artifact_ref' }] }),
    'invalid_output',
    '/content/0/artifact',
  ],
  ['a summary that is a number', () => shape({ summary: 5 }), 'invalid_output', '/summary'],
  ['artifacts that are null', () => shape({ artifacts: null }), 'invalid_output', '/artifacts'],
  [
    'an artifact without a digest',
    () => shape({ artifacts: [{ bytes: 1, mimeType: 'a/b' }] }),
    'invalid_output',
    '/artifacts/0/digest',
  ],
  [
    'an artifact with a BigInt as its size',
    () => shape({ artifacts: [{ digest, bytes: 5n, mimeType: 'a/b' }] }),
    'invalid_output',
    '/artifacts/0/bytes',
  ],
  ['metadata that is a text', () => shape({ metadata: 'x' }), 'invalid_output', '/metadata'],
  ['an error that is a text', () => shape({ error: 'bad' }), 'invalid_output', '/error'],
  ['an error without reason and message', () => shape({ error: {} }), 'invalid_output', '/error/reason'],
  [
    'an error with the code of a prototype',
    () => shape({ error: { code: 'toString', reason: 'r', message: 'm' } }),
    'invalid_output',
    '/error/code',
  ],
  ['a cyclic artifact', () => shape({ artifacts: [cycle] }), 'result_not_serialisable', '/artifacts/0/self'],
  [
    'error data with a cycle',
    () => shape({ error: { reason: 'r', message: 'm', data: cycle } }),
    'result_not_serialisable',
    '/error/data/self',
  ],
  ['data with a function', () => shape({ data: { f: () => 1 } }), 'result_not_serialisable', '/data/f'],
  [
    'a getter that throws',
    () =>
      Object.defineProperty(shape({}), 'summary', {
        enumerable: true,
        get: () => {
          throw new Error('no')
        },
      }),
    'result_not_serialisable',
    '',
  ],
  [
    'a Proxy that throws',
    () =>
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error('no')
          },
        },
      ),
    'result_not_serialisable',
    '',
  ],
  ['a revoked Proxy', () => [revoked.proxy], 'result_not_serialisable', '/0'],
  [
    'content of endless length',
    () => shape({ content: endless, data: 1 }),
    'result_not_serialisable',
    '/content',
  ],
  [
    'content that answers to everything',
    () =>
      shape({
        content: new Proxy([], {
          get: (_, key) => (key === 'length' ? 2 ** 32 : { type: 'text', text: 'x' }),
        }),
        data: 1,
      }),
    'result_not_serialisable',
    '/content',
  ],
  [
    'artifacts that never end',
    () => shape({ artifacts: forever() }),
    'result_not_serialisable',
    '/artifacts',
  ],
]

const forms = new Map(malformed.map(([how, make]) => [how, make]))
const write = defineTool({
  name: 'demo.write',
  description: 'Writes, and gives back what it is told to.',
  permission: 'write',
  idempotency: 'keyed',
  keyFrom: 'call',
  limits: { concurrency: 1 },
  input: { type: 'object', properties: { how: { type: 'string' } }, required: ['how'] },
  run: ({ how }) => {
    ran.push(how)
    return forms.get(how)?.() as ToolReturn
  },
})
const ran: string[] = []

function openWriting() {
  return openRuntime({
    tools: [write],
    approve: personSaying('allow_once').approve,
    policy: {
      budgets: [
        { id: 'calls', unit: 'calls', limit: 1_000 },
        { id: 'time', unit: 'wallMs', limit: 1_000_000_000 },
      ],
    },
  })
}

test('what has the form of no result is the fault of its tool: one begin, one end, settled budgets, a kept key, a free slot (OUT-1, SDK-4, CALL-3)', async () => {
  const runtime = await openWriting()
  const session = runtime.session()
  for (const [how, , reason, pointer] of malformed) {
    const result = await session.call('demo.write', { how }, { idempotencyKey: how })
    expect(result.error, how).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED', reason, actor: 'developer' })
    expect(result.error?.issues?.[0]?.pointer, how).toBe(pointer)
    expect(resultText(result), how).toContain('The tool ran, and what it did stands')
    const again = await session.call('demo.write', { how }, { idempotencyKey: how })
    expect(again, how).toMatchObject({ error: { reason }, metadata: { replayed: true } })
  }
  expect(ran).toEqual(malformed.map(([how]) => how))
  const kinds = [...runtime.store.records({})].map(({ kind, call }) => `${kind} ${call}`)
  expect(new Set(kinds).size).toBe(kinds.length)
  expect(verifyEvidence(runtime.store)).toEqual({
    ok: true,
    records: kinds.length,
    calls: 2 * malformed.length,
  })
  const { accounts } = (await session.preflight('demo.write', { how: 'none' }, { idempotencyKey: 'none' }))
    .budget
  expect(accounts.map(({ id, spent, reserved }) => [id, id === 'calls' ? spent : 0, reserved])).toEqual([
    ['calls', malformed.length, 0],
    ['time', 0, 0],
  ])
})

test.each(['toString', '__proto__', 'constructor', 'NO.SUCH'])(
  'a failure with the code %s fails as any other (CALL-5)',
  async (code) => {
    const tool = defineTool({
      name: 'demo.fail',
      description: 'Fails.',
      permission: 'readonly',
      run: () => {
        throw new ToolFailure({
          code: code as ErrorCode,
          reason: 'own',
          message: 'It failed.',
          data: { n: 1n } as never,
        })
      },
    })
    const runtime = await openRuntime({ tools: [tool] })
    expect((await runtime.session().call('demo.fail')).error).toMatchObject({
      code: 'TOOL.FAILED',
      reason: 'own',
      message: 'It failed.',
      actor: 'model',
      next: 'fix_input',
      data: { n: '1' },
    })
  },
)

test.each<[string, () => unknown]>([
  ['a revoked Proxy', () => revoked.proxy],
  [
    'an error whose message throws',
    () =>
      Object.defineProperty(new Error(), 'message', {
        get: () => {
          throw new Error('no')
        },
      }),
  ],
  ['data with a cycle', () => new ToolFailure({ reason: 'failed', message: 'broke', data: cycle as never })],
])('%s that is thrown is an error of the call (SDK-4)', async (_, thrown) => {
  const tool = defineTool({
    name: 'demo.throw',
    description: 'Throws.',
    permission: 'readonly',
    run: () => {
      throw thrown()
    },
  })
  const runtime = await openRuntime({ tools: [tool] })
  expect((await runtime.session().call('demo.throw')).error).toMatchObject({
    code: 'TOOL.FAILED',
    reason: 'failed',
  })
})

test('the issues of a failure reach the caller (CALL-5)', async () => {
  const issue = { pointer: '/a', code: 'odd', message: 'It is odd.' }
  const tool = defineTool({
    name: 'demo.faulty',
    description: 'Fails with issues.',
    permission: 'readonly',
    run: () => {
      throw new ToolFailure({ reason: 'odd', message: 'Odd.', issues: [issue] })
    },
  })
  const runtime = await openRuntime({ tools: [tool] })
  expect((await runtime.session().call('demo.faulty')).error?.issues).toEqual([issue])
})

test('a defect of Handrail after the begin ends the same call, with its budgets settled and its slot free (CALL-3)', async () => {
  forms.set('well', () => 'done')
  const runtime = await openRuntime({
    tools: [write],
    approve: personSaying('allow_once').approve,
    policy: {
      budgets: [
        { id: 'cpu', unit: 'cpuMs', limit: 1_000_000 },
        { id: 'calls', unit: 'calls', limit: 10 },
      ],
    },
    onError: () => {},
  })
  const session = runtime.session()
  const measure = vi.spyOn(process, 'threadCpuUsage').mockImplementationOnce(() => {
    throw new Error('a defect')
  })
  onTestFinished(() => {
    measure.mockRestore()
  })
  const broken = await session.call('demo.write', { how: 'well' }, { idempotencyKey: 'a' })
  expect(broken.error).toMatchObject({
    code: 'UNKNOWN.INTERNAL',
    message: expect.stringContaining('may have run'),
  })
  const well = await session.call('demo.write', { how: 'well' }, { idempotencyKey: 'b' })
  expect(well.ok).toBe(true)
  const kinds = [...runtime.store.records({})].map(({ kind }) => kind).filter((kind) => kind !== 'note')
  expect(kinds).toEqual(['begin', 'end', 'begin', 'end'])
  const { accounts } = (await session.preflight('demo.write', { how: 'well' }, { idempotencyKey: 'c' }))
    .budget
  expect(accounts.find(({ id }) => id === 'calls')).toMatchObject({ spent: 2, reserved: 0 })
})

test('a list, a set and a map are read by what they have, not by iterators that never end (OUT-1, SDK-4)', async () => {
  const given: [unknown, unknown][] = [
    [Object.assign([1, 2], { [Symbol.iterator]: forever }), [1, 2]],
    [Object.assign(new Set([1, 2]), { [Symbol.iterator]: forever }), [1, 2]],
    [Object.assign(new Map([['a', 1]]), { [Symbol.iterator]: forever }), { a: 1 }],
  ]
  let next = 0
  const tool = defineTool({
    name: 'demo.give',
    description: 'Gives.',
    permission: 'readonly',
    run: () => ({ it: given[next++]?.[0] }) as ToolReturn,
  })
  const session = (await openRuntime({ tools: [tool] })).session()
  for (const [, carried] of given) expect((await session.call('demo.give')).data).toEqual({ it: carried })
})

test.each<[string, unknown]>([
  ['an iterable that never ends', forever()],
  [
    'an async iterable',
    (async function* () {
      yield* forever()
    })(),
  ],
  ['a number', 5],
  ['null', null],
])('an artifact of %s is refused, and told as the fault of its tool (SDK-4)', async (_, bytes) => {
  const tool = defineTool({
    name: 'demo.hand',
    description: 'Hands in.',
    permission: 'readonly',
    rawInput: { type: 'object' },
    run: (_input, context) => context.artifact(bytes as never, { mimeType: 'text/plain' }) as never,
  })
  expect((await (await openRuntime({ tools: [tool] })).session().call('demo.hand')).error).toMatchObject({
    code: 'TOOL.FAILED',
    message: expect.stringContaining('takes text or bytes'),
  })
})
