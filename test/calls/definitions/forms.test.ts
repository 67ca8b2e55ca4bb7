import {
  ToolAdapter,
  ToolFailure,
  createRuntime,
  defineTool,
  resultText,
  toolOutput,
  type Json,
  type JsonSchema,
  type JsonObject,
  type Tool,
  type ToolContext,
  type RuntimeOptions,
} from 'handrail'
import { expect, expectTypeOf, test } from 'vitest'
import { makeFolder, openRuntime } from '../../support/project.ts'

const manifest = { name: 'demo.tool', description: 'Is a tool.', permission: 'readonly' } as const

async function call(
  tool: Tool,
  input?: unknown,
  options: { services?: Record<string, unknown>; secrets?: Record<string, string> } = {},
) {
  const { services, ...more } = options
  const runtime = await openRuntime({
    tools: [tool],
    ...(services !== undefined && { services }),
    ...more,
    onError: () => {},
  })
  return runtime.session().call(tool.definition.name, input)
}

test('form one: typed input, any JSON value (SDK-1)', async () => {
  const tool = defineTool({
    ...manifest,
    input: {
      type: 'object',
      properties: { a: { type: 'integer' }, b: { type: 'integer' } },
      required: ['a', 'b'],
    },
    run(input) {
      expectTypeOf(input).toEqualTypeOf<{ a: number; b: number }>()
      return { sum: input.a + input.b }
    },
  })
  expect((await call(tool, { a: 1, b: 2 })).data).toEqual({ sum: 3 })
})

test('form two: typed input, a full output (SDK-1)', async () => {
  const tool = defineTool({
    ...manifest,
    input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
    run: ({ name }) =>
      toolOutput({
        content: [
          { type: 'text', text: `Hello, ${name}!` },
          { type: 'json', json: { name } },
        ],
        data: { greeted: name },
        summary: `greeted ${name}`,
        metadata: { language: 'en' },
      }),
  })
  expect(await call(tool, { name: 'Ada' })).toMatchObject({
    ok: true,
    content: [
      { type: 'text', text: 'Hello, Ada!' },
      { type: 'json', json: { name: 'Ada' } },
    ],
    data: { greeted: 'Ada' },
    summary: 'greeted Ada',
    metadata: { tool: { language: 'en' } },
  })
})

test('form two: a full output may carry an error, and its content still goes back (SDK-1)', async () => {
  const tool = defineTool({
    ...manifest,
    run: () =>
      toolOutput({
        content: 'half of it',
        error: { reason: 'half_done', message: 'Only half was done.', data: { done: 50 } },
      }),
  })
  const result = await call(tool)
  expect(result).toMatchObject({
    ok: false,
    outcome: 'failed',
    error: { code: 'TOOL.FAILED', reason: 'half_done', data: { done: 50 } },
  })
  expect(JSON.stringify(result.content)).toContain('half of it')
})

test('form three: no input; anything given is refused (SDK-1)', async () => {
  const tool = defineTool({
    ...manifest,
    run(context) {
      expectTypeOf(context).toExtend<ToolContext>()
      return context.callId.startsWith('call_')
    },
  })
  expect(tool.definition.inputSchema).toEqual({ type: 'object', properties: {}, additionalProperties: false })
  for (const nothing of [undefined, {}, '', '{}']) expect((await call(tool, nothing)).data).toBe(true)
  expect((await call(tool, { extra: 1 })).error).toMatchObject({
    reason: 'invalid_input',
    issues: [{ pointer: '/extra' }],
  })
})

test('form four: raw input, checked and as plain JSON (SDK-1)', async () => {
  const tool = defineTool({
    ...manifest,
    rawInput: { type: 'object', properties: { list: { type: 'array' } }, required: ['list'] },
    run(input) {
      expectTypeOf(input).toEqualTypeOf<JsonObject>()
      return input
    },
  })
  const input = { list: [1, 'two', null], other: { any: 'thing' } }
  expect((await call(tool, input)).data).toEqual(input)
  expect((await call(tool, {})).error).toMatchObject({ issues: [{ pointer: '/list' }] })
})

test.each<[string, unknown, unknown]>([
  ['a string', 'hello', { data: 'hello', content: [{ type: 'text', text: 'hello' }] }],
  ['an empty string', '', { data: '' }],
  ['a number', 7, { data: 7, content: [{ type: 'json', json: 7 }] }],
  ['zero', 0, { data: 0 }],
  ['true', true, { data: true }],
  ['false', false, { data: false }],
  ['null', null, { data: null, content: [{ type: 'json', json: null }] }],
  ['an object', { a: [1] }, { data: { a: [1] }, content: [{ type: 'json', json: { a: [1] } }] }],
  ['an array', [1, 'a', null], { data: [1, 'a', null] }],
  [
    'an object that looks like an output',
    { content: 'x', error: 'y' },
    { data: { content: 'x', error: 'y' } },
  ],
  ['a string that looks like an error', 'Error: no such thing', { data: 'Error: no such thing' }],
])('%s is wrapped into a result (SDK-3)', async (_, returned, expected) => {
  for (const run of [() => returned as Json, async () => returned as Json]) {
    const result = await call(defineTool({ ...manifest, run }))
    expect(result).toMatchObject({
      ok: true,
      outcome: 'ok',
      tool: 'demo.tool',
      artifacts: [],
      ...(expected as object),
    })
    expect(result.summary).not.toBe('')
  }
})

test('nothing returned is a result without data (SDK-3)', async () => {
  const result = await call(defineTool({ ...manifest, run: () => {} }))
  expect(result.ok).toBe(true)
  expect('data' in result).toBe(false)
})

const thrown: readonly [string, () => unknown, object][] = [
  [
    'an error',
    () => {
      throw new Error('the disk is full')
    },
    { code: 'TOOL.FAILED', reason: 'failed', message: expect.stringContaining('the disk is full') },
  ],
  [
    'a rejected promise',
    async () => Promise.reject(new Error('gone')),
    { code: 'TOOL.FAILED', reason: 'failed' },
  ],
  [
    'text',
    () => {
      throw 'just text'
    },
    { code: 'TOOL.FAILED', message: expect.stringContaining('just text') },
  ],
  [
    'nothing',
    () => {
      throw undefined
    },
    { code: 'TOOL.FAILED' },
  ],
  ['null', async () => Promise.reject(null), { code: 'TOOL.FAILED' }],
  [
    'an object that breaks when it is looked at',
    () => {
      throw Object.defineProperty(new Error('x'), 'message', {
        get: () => {
          throw new Error('y')
        },
      })
    },
    { reason: expect.any(String) },
  ],
  [
    'a failure with its own reason',
    () => {
      throw new ToolFailure({ reason: 'out_of_stock', message: 'None left.', data: { left: 0 } })
    },
    { code: 'TOOL.FAILED', reason: 'out_of_stock', message: 'None left.', data: { left: 0 } },
  ],
  [
    'a failure with another code',
    () => {
      throw new ToolFailure({ code: 'PROVIDER.UNAVAILABLE', reason: 'upstream_down', message: 'No answer.' })
    },
    { code: 'PROVIDER.UNAVAILABLE', actor: 'operator' },
  ],
  [
    'a failure with a made-up code',
    () => {
      throw new ToolFailure({ code: 'MY.CODE' as never, reason: 'x', message: 'x' })
    },
    { code: 'TOOL.FAILED' },
  ],
  [
    'a stack overflow',
    () => {
      const f = (): number => f() + 1
      return f()
    },
    { code: 'TOOL.FAILED' },
  ],
]

test.each(thrown)(
  '%s that is thrown becomes a result, and the loop goes on (SDK-4)',
  async (_, run, error) => {
    const other = defineTool({ ...manifest, name: 'demo.other', run: () => 'fine' })
    const runtime = await openRuntime({
      tools: [defineTool({ ...manifest, run: run as () => Json }), other],
      onError: () => {},
    })
    const { results, endReason } = await runtime
      .session()
      .turn([{ tool: 'demo.tool' }, { tool: 'demo.other' }])
    expect(results[0]).toMatchObject({ ok: false, outcome: 'failed', error })
    expect(results[1]).toMatchObject({ ok: true, data: 'fine' })
    expect(endReason).toBe('completed')
  },
)

test.each<[string, unknown]>([
  ['a function', () => 1],
  ['a symbol', Symbol('x')],
  ['a promise inside of a list', Promise.resolve(1)],
])('%s that is returned becomes a typed error (SDK-3, SDK-4)', async (_, returned) => {
  const result = await call(defineTool({ ...manifest, run: () => ({ deep: [returned] }) as unknown as Json }))
  expect(result.error).toMatchObject({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'result_not_serialisable' })
  expect(result.error?.issues?.[0]?.pointer).toMatch(/^\/deep\/0/)
})

test('a cycle that is returned becomes a typed error (SDK-4)', async () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  const result = await call(defineTool({ ...manifest, run: () => cycle as unknown as Json }))
  expect(result.error).toMatchObject({ reason: 'result_not_serialisable' })
})

test('a failure while decoding is a fault of the input (SDK-4)', async () => {
  const decoding = (decode: () => unknown): Tool => ({
    ...defineTool({ ...manifest, run: () => 'ran' }),
    decode,
  })
  const plain = await call(
    decoding(() => {
      throw new Error('the date is in the past')
    }),
  )
  expect(plain.error).toMatchObject({
    code: 'SCHEMA.VALIDATION_FAILED',
    reason: 'invalid_input',
    message: expect.stringContaining('the date is in the past'),
  })
})

declare module 'handrail' {
  interface Services {
    clock: { now(): number }
    mailer: { send(to: string): void }
  }
}

test('the context has what needs names, and nothing else (SDK-5)', async () => {
  const seen: Record<string, unknown> = {}
  const tool = defineTool({
    ...manifest,
    needs: ['clock'],
    run(context) {
      expectTypeOf(context.clock).toEqualTypeOf<{ now(): number }>()
      expectTypeOf(context.mailer).toEqualTypeOf<{ send(to: string): void } | undefined>()
      for (const name of ['clock', 'mailer', 'files', 'search', 'commands'] as const)
        seen[name] = context[name]
      return context.clock.now()
    },
  })
  const clock = { now: () => 42 }
  const result = await call(tool, {}, { services: { clock, mailer: { send: () => {} } } })
  expect(result.data).toBe(42)
  expect(seen).toEqual({ clock, mailer: undefined, files: undefined, search: undefined, commands: undefined })
})

test('a tool without needs gets facts about its call only (SDK-5)', async () => {
  const tool = defineTool({
    ...manifest,
    run: ({ files, search, commands, clock, callId, session, project, signal, principal }) => ({
      none: [files, search, commands, clock].every((each) => each === undefined),
      facts: [callId, session, project].every((fact) => typeof fact === 'string' && fact !== ''),
      aborted: signal.aborted,
      role: principal.role,
    }),
  })
  const result = await call(tool, {}, { services: { clock: { now: () => 1 }, project: 5, session: 5 } })
  expect(result.data).toEqual({ none: true, facts: true, aborted: false, role: 'main' })
})

test.each<[string, Record<string, unknown>]>([
  ['flies', {}],
  ['mailer', { clock: 1 }],
  ['mailer', { mailer: undefined }],
  ['toString', {}],
  ['__proto__', {}],
  ['constructor', {}],
])(
  'a service that is not there is told at registration, and gives an error result before anything runs: %s of %j (SDK-5)',
  async (name, services) => {
    let ran = false
    const tool = defineTool({ ...manifest, needs: ['files', name as never], run: () => (ran = true) })
    const told: unknown[] = []
    const onError: RuntimeOptions['onError'] = ({ cause }) => void told.push(cause)
    const first = await openRuntime({ tools: [tool], services, onError })
    const later = await openRuntime({ services, onError })
    await later.register([tool])
    expect(told.map(String)).toEqual(
      Array(2).fill(
        expect.stringMatching(
          `^Error: "demo.tool" needs "${name}", .* each of its calls will fail. .* files, `,
        ),
      ),
    )
    for (const runtime of [first, later])
      expect((await runtime.session().call('demo.tool')).error).toMatchObject({
        code: 'TOOL.FAILED',
        reason: 'service_missing',
        message: expect.stringContaining(name) as string,
        data: { missing: [name] },
      })
    expect(ran).toBe(false)
  },
)

/** What compilers of tools without types do not see. */
type Loose = Record<'files' | 'clock', { read(path: string): unknown; now(): unknown }>

test.each<[string, 'files' | 'clock', (context: Loose) => unknown]>([
  ['read', 'files', ({ files }) => files.read('a.txt')],
  ['read', 'files', async (context) => (await Promise.resolve(context)).files.read('a.txt')],
  ['now', 'clock', ({ clock }) => clock.now()],
])('a tool that uses %s of %s without naming that is told what to add (SDK-5)', async (method, name, use) => {
  const tool = defineTool({ ...manifest, run: (context) => use(context as unknown as Loose) as Json })
  const result = await call(tool, {}, { services: { clock: { now: () => 1 } } })
  expect(result.error).toMatchObject({
    code: 'TOOL.FAILED',
    reason: 'failed',
    message: `"demo.tool" failed: Cannot read properties of undefined (reading '${method}'). It looked for the service "${name}", which is not among the "needs" of its definition: its developer has to add "${name}" there.`,
  })
})

test('what a tool throws for another reason stays as it is, whatever services it looked at (SDK-5)', async () => {
  const looks = (fail: () => never) =>
    defineTool({ ...manifest, run: ({ files }) => (files === undefined ? fail() : 'here') })
  const plain = await call(
    looks(() => {
      throw new Error('no files today')
    }),
  )
  expect(plain.error).toMatchObject({ reason: 'failed', message: '"demo.tool" failed: no files today' })
})

test('a secret is given to the tool that names it, and to no other (SDK-5)', async () => {
  const tool = defineTool({
    ...manifest,
    sideEffect: 'read',
    capabilities: { secrets: ['TOKEN', 'ABSENT'] },
    rawInput: { type: 'object', properties: { name: { type: 'string' } } },
    run: ({ name }, context) => context.secret(typeof name === 'string' ? name : '').length,
  })
  const read = (name: string) =>
    call(tool, { name }, { secrets: { TOKEN: 'a-long-secret-value', OTHER: 'another-secret-value' } })
  expect((await read('TOKEN')).data).toBe('a-long-secret-value'.length)
  for (const name of ['OTHER', 'ABSENT', 'toString']) expect((await read(name)).ok).toBe(false)
})

test('dispose is called once for each tool, in whatever way another one fails (SDK-6)', async () => {
  const disposed: string[] = []
  const issues: unknown[] = []
  const tool = (name: string, fail?: () => void | Promise<void>) =>
    defineTool({
      ...manifest,
      name,
      run: () => null,
      async dispose() {
        disposed.push(name)
        await fail?.()
      },
    })
  const sync = {
    ...tool('b.throws'),
    dispose: () => {
      disposed.push('b.throws')
      throw new Error('thrown by b')
    },
  }
  const runtime = await createRuntime({
    project: makeFolder(),
    tools: [
      tool('a.fine'),
      sync,
      tool('c.rejects', async () => Promise.reject(new Error('rejected by c'))),
      tool('d.fine'),
    ],
    onError: ({ cause }) => issues.push(cause),
  })
  await runtime.register([tool('e.late')])
  await runtime.session().call('a.fine')
  expect(disposed).toEqual([])
  await Promise.all([runtime.close(), runtime.close()])
  await runtime.close()
  expect(disposed.toSorted()).toEqual(['a.fine', 'b.throws', 'c.rejects', 'd.fine', 'e.late'])
  expect(issues.map((issue) => (issue as Error).message).toSorted()).toEqual(['rejected by c', 'thrown by b'])
})

class Counter extends ToolAdapter<{ by: number }> {
  #total = 0
  disposed = 0

  constructor() {
    super({
      name: 'demo.counter',
      description: 'Counts on.',
      permission: 'readonly',
      inputSchema: {
        type: 'object',
        properties: { by: { type: 'string' } },
        required: ['by'],
        additionalProperties: false,
      },
      outputSchema: { type: 'integer' },
    })
  }

  override decode({ by }: JsonObject) {
    return { by: Number(by) }
  }

  override plan({ by }: { by: number }) {
    return { operations: [], preview: { kind: 'text', title: `Count on by ${by}`, body: '' } } as const
  }

  run({ by }: { by: number }) {
    this.#total += by
    return this.#total
  }

  override dispose() {
    this.disposed++
  }
}

test('the class form keeps its own state, with decode, plan and dispose (SDK-7)', async () => {
  const counter = new Counter()
  const runtime = await createRuntime({ project: makeFolder(), tools: [counter] })
  const session = runtime.session()
  expect((await session.call('demo.counter', { by: '2' })).data).toBe(2)
  expect((await session.call('demo.counter', { by: '3' })).data).toBe(5)
  expect((await session.call('demo.counter', { by: 4 })).error?.reason).toBe('invalid_input')
  expect((await session.preflight('demo.counter', { by: '1' })).preview?.title).toBe('Count on by 1')
  await runtime.close()
  expect(counter.disposed).toBe(1)
})

test('the class form has the same defaults and the same checks (SDK-7, DEF-8)', async () => {
  class Odd extends ToolAdapter {
    run() {
      return null
    }
  }
  const odd = new Odd({ name: 'demo.odd', description: 'Is odd.', inputSchema: { type: 'object' } })
  const same = defineTool({
    name: 'demo.odd',
    description: 'Is odd.',
    rawInput: { type: 'object' },
    run: () => null,
  })
  expect(odd.definition).toEqual(same.definition)
  const bad = new Odd({
    name: 'demo.odd',
    description: 'Is odd.',
    safety: 'high',
    consent: { required: false },
    inputSchema: { type: 'object' },
  })
  await expect(createRuntime({ project: makeFolder(), tools: [bad] })).rejects.toMatchObject({
    code: 'inconsistent_manifest',
  })
  expect(
    () => new Odd({ name: 'demo.odd', description: 'Is odd.', inputSchema: {}, needz: [] } as never),
  ).toThrow(
    expect.objectContaining({
      code: 'invalid_definition',
      issues: [expect.objectContaining({ pointer: '/needz' })],
    }),
  )
})

test('snake_case on the wire, idiomatic names in code (SDK-8)', async () => {
  const tool = defineTool({
    ...manifest,
    wireCase: 'snake_case',
    input: {
      type: 'object',
      properties: {
        startLine: { type: 'integer' },
        filePaths: {
          type: 'array',
          items: { type: 'object', properties: { baseName: { type: 'string' } }, required: ['baseName'] },
        },
        nestedPart: {
          type: 'object',
          properties: { maxLines: { type: 'integer', default: 3 } },
          default: { maxLines: 9 },
        },
      },
      required: ['startLine'],
    },
    run(input) {
      expectTypeOf(input.startLine).toEqualTypeOf<number>()
      expectTypeOf(input.nestedPart.maxLines).toEqualTypeOf<number>()
      return input as unknown as JsonObject
    },
  })
  const schema = tool.definition.inputSchema
  expect(Object.keys(schema.properties ?? {})).toEqual(['start_line', 'file_paths', 'nested_part'])
  expect(schema.required).toEqual(['start_line'])
  expect(JSON.stringify(schema)).not.toMatch(/[a-z][A-Z][a-z]+Line|baseName|maxLines/)
  const given = await call(tool, { start_line: 2, file_paths: [{ base_name: 'a' }], nested_part: {} })
  expect(given.data).toEqual({ startLine: 2, filePaths: [{ baseName: 'a' }], nestedPart: { maxLines: 3 } })
  expect((await call(tool, { start_line: 2 })).data).toEqual({ startLine: 2, nestedPart: { maxLines: 9 } })
  const wrong = await call(tool, { startLine: 2 })
  expect(wrong.error?.issues?.map((issue) => issue.pointer).toSorted()).toEqual(['/startLine', '/start_line'])
})

test('two names that would be one on the wire are refused (SDK-8)', () => {
  const spec = {
    ...manifest,
    wireCase: 'snake_case',
    input: {
      type: 'object',
      properties: { startLine: { type: 'integer' }, start_line: { type: 'integer' } },
    },
    run: () => null,
  } as const
  expect(() => defineTool(spec)).toThrow(expect.objectContaining({ code: 'unsupported_schema' }))
})

test('snake_case on the wire holds for the output too: schema, data, and what fails beside it (SDK-8)', async () => {
  const output: JsonSchema = {
    type: 'object',
    properties: {
      nextLine: { type: 'integer' },
      hitList: { type: 'array', items: { type: 'object', properties: { filePath: { type: 'string' } } } },
    },
    required: ['nextLine'],
    additionalProperties: false,
  }
  const data = { nextLine: 2, hitList: [{ filePath: 'a', asGiven: true }] }
  const onWire = { next_line: 2, hit_list: [{ file_path: 'a', asGiven: true }] }
  const tools = [
    defineTool({ ...manifest, name: 'a.plain', output, wireCase: 'snake_case', run: () => data }),
    defineTool({
      ...manifest,
      name: 'a.full',
      output,
      wireCase: 'snake_case',
      run: () => toolOutput({ content: [{ type: 'json', json: data }], data }),
    }),
    defineTool({
      ...manifest,
      name: 'a.fails',
      output,
      wireCase: 'snake_case',
      run: () =>
        toolOutput({ content: 'half', data: { nextLine: 2 }, error: { reason: 'half', message: 'Half.' } }),
    }),
  ]
  const session = (await openRuntime({ tools })).session()
  expect(Object.keys(session.tools()[0]?.outputSchema?.properties ?? {})).toEqual(['next_line', 'hit_list'])
  for (const name of ['a.plain', 'a.full']) {
    const result = await session.call(name)
    expect([result.data, resultText(result)]).toEqual([onWire, JSON.stringify(onWire)])
  }
  expect((await session.call('a.fails')).data).toEqual({ next_line: 2 })
})
