import {
  createRuntime,
  defineTool,
  type JsonSchema,
  type ManifestSpec,
  type Policy,
  type ToolContext,
  type ToolReturn,
  type ApprovalRequest,
  type Runtime,
  type Tool,
} from 'handrail'
import { composeTools, valueFrom } from 'handrail/tools'
import type { StepResult } from 'handrail/approvals'
import { afterEach, describe, expect, test } from 'vitest'

const text = {
  type: 'object',
  properties: { text: { type: 'string' } },
  required: ['text'],
  additionalProperties: false,
} as const

const ran: string[] = []
const running = { now: 0, most: 0 }
const open: Runtime[] = []
afterEach(async () => {
  ran.length = 0
  running.most = 0
  await Promise.all(open.splice(0).map((runtime) => runtime.close()))
})

interface Given {
  text: string
}
type More = Partial<ManifestSpec> & {
  output?: JsonSchema | undefined
  run?: (given: Given, context: ToolContext) => unknown
}

const given = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const

function read(name: string, { run, ...more }: More = {}): Tool {
  return defineTool({
    name,
    description: 'Reads a text.',
    permission: 'readonly',
    input: given,
    output: text,
    ...more,
    async run(input, context) {
      if (run !== undefined) return (await run(input, context)) as ToolReturn
      running.now++
      running.most = Math.max(running.most, running.now)
      await new Promise((resolve) => setImmediate(resolve))
      running.now--
      ran.push(name)
      return { text: `${name}(${input.text})` }
    },
  })
}

function write(name: string, more: More = {}): Tool {
  return defineTool({
    name,
    description: 'Writes a text.',
    idempotency: 'optional',
    input: given,
    output: text,
    plan: (input) => ({
      operations: [{ kind: 'other', resource: `note:${input.text}` }],
      preview: { kind: 'text', title: `Write ${input.text}`, body: input.text },
    }),
    ...more,
    run(input) {
      ran.push(name)
      return { text: `${name}(${input.text})` }
    },
  })
}

async function openWith(tools: readonly Tool[], options: Partial<Parameters<typeof createRuntime>[0]> = {}) {
  const runtime = await createRuntime({ project: '.', store: 'memory', tools, ...options })
  open.push(runtime)
  return runtime
}

async function sayYes({ approvals }: Runtime, { waiting }: StepResult): Promise<void> {
  for (const { approval } of waiting)
    await approvals.decide(approval.id, { decision: 'allow_once', by: 'ann' })
}

const records = (runtime: Runtime, kind: 'begin' | 'end') =>
  [...runtime.store.records({ kind })].map(({ text: record }) => JSON.parse(record))

const first = read('demo.first')
const second = read('demo.second')
const chain = composeTools({
  name: 'demo.chain',
  description: 'One after the other.',
  input: given,
  parts: {
    one: { tool: first, input: { text: valueFrom('input', '/text') } },
    two: { tool: second, input: { text: valueFrom('one', '/text') } },
  },
})

describe('what runs', () => {
  test('a chain hands what a part returned to the next, and returns what the last did (NEXT-1)', async () => {
    const session = (await openWith([first, second, chain])).session()
    const result = await session.call('demo.chain', { text: 'x' })
    expect(result).toMatchObject({ ok: true, data: { text: 'demo.second(demo.first(x))' } })
    expect(chain.definition.outputSchema).toEqual(text)
    expect(chain.definition).toMatchObject({ permission: 'readonly', sideEffect: 'none', safety: 'low' })
  })

  test('each part is a call with evidence under that of the composition (NEXT-1)', async () => {
    const runtime = await openWith([first, second, chain])
    const { callId } = await runtime.session().call('demo.chain', { text: 'x' })
    const begins = records(runtime, 'begin')
    expect(begins.map(({ tool, partOf }) => [tool, partOf])).toEqual(
      expect.arrayContaining([
        ['demo.chain', undefined],
        ['demo.first', { call: callId, part: 'one' }],
        ['demo.second', { call: callId, part: 'two' }],
      ]),
    )
    expect(records(runtime, 'end')).toHaveLength(3)
  })

  test('reads run beside each other, writes alone (NEXT-1)', async () => {
    const save = write('demo.save')
    const graph = composeTools({
      name: 'demo.graph',
      description: 'Branches.',
      input: given,
      parts: {
        a: { tool: first, input: { text: valueFrom('input', '/text') } },
        b: { tool: second, input: { text: valueFrom('input', '/text') } },
        save: { tool: save, input: { text: valueFrom('a', '/text') } },
        again: { tool: save, input: { text: valueFrom('b', '/text') } },
      },
      output: { both: [valueFrom('save', '/text'), valueFrom('again', '/text')] },
    })
    const runtime = await openWith([first, second, save, graph], {
      policy: { rules: [{ effect: 'allow', tools: ['demo.*'] }] },
    })
    const result = await runtime.session().call('demo.graph', { text: 'x' })
    expect(result.data).toEqual({ both: ['demo.save(demo.first(x))', 'demo.save(demo.second(x))'] })
    expect(running.most).toBe(2)
    expect(ran.slice(2)).toEqual(['demo.save', 'demo.save'])
  })

  test('a part that fails ends it: what ran is named, the rest does not run (NEXT-1)', async () => {
    const broken = read('demo.broken', {
      run: () => {
        throw new Error('no paper')
      },
    })
    const composed = composeTools({
      name: 'demo.stops',
      description: 'Stops.',
      input: given,
      parts: {
        one: { tool: first, input: { text: valueFrom('input', '/text') } },
        two: { tool: broken, input: { text: valueFrom('one', '/text') } },
        three: { tool: second, input: { text: valueFrom('two', '/text') } },
      },
    })
    const runtime = await openWith([first, second, broken, composed])
    const { error } = await runtime.session().call('demo.stops', { text: 'x' })
    expect(error).toMatchObject({ code: 'TOOL.FAILED', reason: 'part_failed' })
    expect(error?.message).toContain('no paper')
    expect(error?.message).toContain('Ran, and stands: "one". Did not run: "three".')
    expect(error?.data?.['parts']).toMatchObject([
      { part: 'one', outcome: 'ok' },
      { part: 'two', outcome: 'failed' },
      { part: 'three', outcome: 'not_run' },
    ])
    expect(ran).toEqual(['demo.first'])
  })

  test('an abort in the middle ends the part that runs, and the rest does not run (NEXT-1)', async () => {
    const controller = new AbortController()
    const slow = read('demo.slow', {
      run: (_: unknown, { signal }: { signal: AbortSignal }) => {
        controller.abort()
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('gone'))),
        )
      },
    })
    const composed = composeTools({
      name: 'demo.aborted',
      description: 'Is aborted.',
      input: given,
      parts: {
        one: { tool: slow, input: { text: valueFrom('input', '/text') } },
        two: { tool: second, input: { text: valueFrom('one', '/text') } },
      },
    })
    const runtime = await openWith([slow, second, composed])
    const result = await runtime.session().call('demo.aborted', { text: 'x' }, { signal: controller.signal })
    expect(result.outcome).toBe('aborted')
    expect(ran).toEqual([])
    expect(records(runtime, 'end').map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['demo.slow', 'aborted'],
      ['demo.aborted', 'aborted'],
    ])
  })
})

describe('what is refused when it is defined', () => {
  const number = read('demo.number', {
    output: {
      type: 'object',
      properties: { n: { type: 'integer' }, maybe: { type: 'string' } },
      required: ['n'],
    },
  })
  const silent = read('demo.silent', { output: undefined })

  test('every mismatch is named with its pointer (NEXT-1)', () => {
    const define = () =>
      composeTools({
        name: 'demo.bad',
        description: 'Does not fit.',
        input: given,
        parts: {
          one: { tool: number, input: { text: valueFrom('input', '/txt') } },
          two: { tool: first, input: { text: valueFrom('one', '/n'), other: 1 } },
          three: { tool: first, input: { text: valueFrom('one', '/maybe') } },
          four: { tool: first },
        },
      })
    expect(define).toThrow(expect.objectContaining({ code: 'invalid_definition' }))
    try {
      define()
    } catch (error) {
      expect(
        (error as { issues: { pointer: string; code: string }[] }).issues.map(({ pointer, code }) => [
          pointer,
          code,
        ]),
      ).toEqual([
        ['/parts/one/input/text', 'unknown_field'],
        ['/parts/two/input/text', 'does_not_fit'],
        ['/parts/two/input/other', 'unknown_field'],
        ['/parts/three/input/text', 'does_not_fit'],
        ['/parts/four/input/text', 'missing_field'],
      ])
    }
  })

  test('a part that does not say what it returns is refused, unless its reference is marked (NEXT-1)', async () => {
    const make = (unchecked: boolean) =>
      composeTools({
        name: 'demo.silence',
        description: 'From a part without output schema.',
        input: given,
        parts: {
          one: { tool: silent, input: { text: valueFrom('input', '/text') } },
          two: { tool: first, input: { text: valueFrom('one', '/text', { unchecked }) } },
        },
      })
    expect(() => make(false)).toThrow('does not say what it returns')
    const runtime = await openWith([silent, first, make(true)])
    expect((await runtime.session().call('demo.silence', { text: 'x' })).data).toEqual({
      text: 'demo.first(demo.silent(x))',
    })
  })

  test('parts that wait for each other, and parts that there are not, are refused (NEXT-1)', () => {
    const about = { name: 'demo.bad', description: 'Cannot be.', input: given }
    expect(() =>
      composeTools({
        ...about,
        parts: {
          one: { tool: first, input: { text: valueFrom('two', '/text') } },
          two: { tool: second, input: { text: valueFrom('one', '/text') } },
        },
      }),
    ).toThrow('wait for each other')
    const unknown = { from: 'oen' } as never as never
    expect(() =>
      composeTools({ ...about, parts: { one: { tool: first, input: { text: unknown } } } }),
    ).toThrow('There is no part "oen"')
    // @ts-expect-error a name of a part is known to the compiler
    const misspelt = () => composeTools({ ...about, parts: { one: { tool: first, after: ['tow'] } } })
    expect(misspelt).toThrow('There is no part "tow"')
  })

  test('what it may do is the union of its parts (NEXT-1)', () => {
    const files = write('demo.files', {
      sideEffect: 'filesystem',
      capabilities: { fs: { write: ['project'] } },
      scopes: [{ resource: 'notes', action: 'write' }],
      limits: { maxFiles: 3 },
    })
    const net = read('demo.net', {
      sideEffect: 'network',
      capabilities: { net: { hosts: ['a.example'] } },
      limits: { maxFiles: 2, concurrency: 2 },
    })
    const both = composeTools({
      name: 'demo.both',
      description: 'Both.',
      parts: { files: { tool: files, input: { text: 'a' } }, net: { tool: net, input: { text: 'b' } } },
    })
    expect(both.definition).toMatchObject({
      permission: 'write',
      sideEffect: 'write',
      safety: 'medium',
      consent: { required: true, scope: 'once' },
      scopes: [{ resource: 'notes', action: 'write' }],
      capabilities: { fs: { read: [], write: ['project'] }, net: { hosts: ['a.example'] } },
      limits: { maxFiles: 5, concurrency: 2 },
      idempotency: 'optional',
    })
  })
})

describe('who decides', () => {
  const save = write('demo.save')
  const send = write('demo.send')
  const known = composeTools({
    name: 'demo.known',
    description: 'Two writes that are known before.',
    input: given,
    parts: {
      save: { tool: save, input: { text: valueFrom('input', '/text') } },
      send: { tool: send, input: { text: 'sent' } },
    },
  })
  const later = composeTools({
    name: 'demo.later',
    description: 'The second write is known later.',
    input: given,
    parts: {
      save: { tool: save, input: { text: valueFrom('input', '/text') } },
      send: { tool: send, input: { text: valueFrom('save', '/text') } },
    },
  })
  const asked: ApprovalRequest[] = []
  const approve = async (request: ApprovalRequest) => {
    asked.push(request)
    return { decision: 'allow_once' as const, by: 'ann' }
  }
  const tools = [save, send, known, later]
  afterEach(() => void (asked.length = 0))

  test('one yes covers the parts whose preview it showed (NEXT-1)', async () => {
    const runtime = await openWith(tools, { approve })
    const result = await runtime.session().call('demo.known', { text: 'x' })
    expect(result.ok).toBe(true)
    expect(asked.map(({ tool }) => tool)).toEqual(['demo.known'])
    expect(asked[0]?.preview.body).toContain('1. save (demo.save): Write x')
    expect(asked[0]?.preview.body).toContain('2. send (demo.send): Write sent')
    expect(
      records(runtime, 'begin')
        .filter(({ partOf }) => partOf)
        .map(({ consent }) => consent),
    ).toEqual([result.callId, result.callId])
  })

  test('a part that is known later is asked about when it comes, with its own preview (NEXT-1)', async () => {
    const runtime = await openWith(tools, { approve })
    expect((await runtime.session().call('demo.later', { text: 'x' })).ok).toBe(true)
    expect(asked.map(({ tool, preview }) => [tool, preview.title])).toEqual([
      ['demo.later', 'demo.later: 2 parts'],
      ['demo.send', 'Write demo.save(x)'],
    ])
    expect(asked[0]?.preview.body).toContain('This yes does not cover it')
  })

  test('a part that only a person, or only some people, may let through asks for itself (NEXT-1)', async () => {
    const strict = write('demo.strict', { consent: { required: true, scope: 'once', personOnly: true } })
    const both = composeTools({
      name: 'demo.both',
      description: 'Both.',
      parts: { a: { tool: save, input: { text: 'a' } }, b: { tool: strict, input: { text: 'b' } } },
    })
    const runtime = await openWith([save, strict, both], { approve })
    expect((await runtime.session().call('demo.both')).ok).toBe(true)
    expect(asked.map(({ tool }) => tool)).toEqual(['demo.both', 'demo.strict'])
  })

  test('an allow rule for the composition lets no part through that asks for itself (NEXT-1)', async () => {
    const rules = [{ effect: 'allow' as const, tools: ['demo.known'] }]
    const runtime = await openWith(tools, {
      policy: { rules },
      approve: async (request) => {
        asked.push(request)
        return { decision: request.tool === 'demo.send' ? 'deny' : 'allow_once' }
      },
    })
    const { error } = await runtime.session().call('demo.known', { text: 'x' })
    expect(asked.map(({ tool }) => tool)).toEqual(['demo.save', 'demo.send'])
    expect(error).toMatchObject({
      reason: 'part_failed',
      data: { part: 'send', code: 'POLICY.APPROVAL_DENIED' },
    })
    expect(ran).toEqual(['demo.save'])
  })

  test('it does nothing that its session may not do part by part (NEXT-1)', async () => {
    const denied = await openWith(tools, {
      approve,
      policy: { rules: [{ effect: 'deny', tools: ['demo.send'] }] },
    })
    const byRule = await denied.session().call('demo.known', { text: 'x' })
    expect(byRule.error?.message).toContain('The part "send" would not run, so none did')
    const narrow = denied.session({ allowedTools: ['demo.known', 'demo.save'] })
    expect((await narrow.call('demo.known', { text: 'x' })).error).toMatchObject({
      reason: 'tool_not_available',
      data: { part: 'send' },
    })
    const planning = denied.session({ mode: 'plan' })
    expect((await planning.call('demo.known', { text: 'x' })).error?.reason).toBe('mode_denied')
    expect(ran).toEqual([])
  })

  test('a restriction in the middle holds for the parts that come (NEXT-1)', async () => {
    const runtime = await openWith(tools, { approve })
    const session = runtime.session()
    session.on(({ type, tool }) => {
      if (type === 'tool_completed' && tool === 'demo.save')
        session.restrict({ disallowedTools: ['demo.send'] })
    })
    const { error } = await session.call('demo.known', { text: 'x' })
    expect(error?.data).toMatchObject({ part: 'send', reason: 'tool_not_available' })
    expect(ran).toEqual(['demo.save'])
  })

  /** The two writes, and the first of them changes the policy while it runs. */
  async function openChanging(policy: Policy, before: Policy = {}): Promise<Runtime> {
    const changing = defineTool({
      name: 'demo.save',
      description: 'Writes a text.',
      input: given,
      output: text,
      plan: (input) => ({
        operations: [{ kind: 'other', resource: `note:${input.text}` }],
        preview: { kind: 'text', title: `Write ${input.text}`, body: input.text },
      }),
      async run(input) {
        ran.push('demo.save')
        await runtime.reload({ policy })
        return { text: input.text }
      },
    })
    const both = composeTools({
      name: 'demo.known',
      description: 'Two writes that are known before.',
      input: given,
      parts: {
        save: { tool: changing, input: { text: valueFrom('input', '/text') } },
        send: { tool: send, input: { text: 'sent' } },
      },
    })
    const runtime = await openWith([changing, send, both], { approve, policy: before })
    return runtime
  }

  test('after a reload of the policy the yes to the whole covers no part any more (NEXT-1)', async () => {
    const asking: Policy = { rules: [{ id: 'asks', effect: 'ask', tools: ['demo.send'] }] }
    const runtime = await openChanging(asking)
    const result = await runtime.session().call('demo.known', { text: 'x' })
    expect(result.ok).toBe(true)
    expect(asked.map(({ tool }) => tool)).toEqual(['demo.known', 'demo.send'])
    const parts = records(runtime, 'begin').filter(({ partOf }) => partOf)
    expect(parts.map(({ tool, consent }) => [tool, consent])).toEqual(
      expect.arrayContaining([
        ['demo.save', result.callId],
        ['demo.send', undefined],
      ]),
    )
    asked.length = 0
    const denying = await openChanging({ rules: [{ id: 'no', effect: 'deny', tools: ['demo.send'] }] })
    ran.length = 0
    const { error } = await denying.session().call('demo.known', { text: 'x' })
    expect(error).toMatchObject({ reason: 'part_failed', data: { part: 'send', reason: 'rule_denied' } })
    expect([ran, asked.map(({ tool }) => tool)]).toEqual([['demo.save'], ['demo.known']])
  })

  test('grants that change in the middle hold for the parts that come (NEXT-1, AUTH-2)', async () => {
    const grant = (names: readonly string[]): Policy => ({ grants: [{ tools: names }] })
    const runtime = await openChanging(
      grant(['demo.known', 'demo.save']),
      grant(['demo.known', 'demo.save', 'demo.send']),
    )
    const { error } = await runtime.session().call('demo.known', { text: 'x' })
    expect(error).toMatchObject({ reason: 'part_failed', data: { part: 'send', code: 'AUTH.FORBIDDEN' } })
    expect([ran, asked.map(({ tool }) => tool)]).toEqual([['demo.save'], ['demo.known']])
    ran.length = 0
    const again = await runtime.session().call('demo.known', { text: 'x' })
    expect(again.error?.message).toContain('The part "send" would not run, so none did')
    expect(ran).toEqual([])
  })

  test('budgets: the sum is held before the first part runs, and what is not spent comes back (NEXT-1)', async () => {
    const budgets = [{ id: 'few', unit: 'calls' as const, limit: 2, tools: ['demo.save', 'demo.send'] }]
    const runtime = await openWith(tools, { approve, policy: { budgets } })
    const session = runtime.session()
    expect((await session.call('demo.save', { text: 'x' })).ok).toBe(true)
    ran.length = 0
    const over = await session.call('demo.known', { text: 'x' })
    expect(over.error).toMatchObject({ code: 'QUOTA.BUDGET_EXCEEDED', reason: 'calls' })
    expect(ran).toEqual([])
    expect((await session.call('demo.send', { text: 'x' })).ok).toBe(true)
  })

  test('with a key each part runs once, also when the call is made again (NEXT-1)', async () => {
    const runtime = await openWith(tools, { approve })
    const session = runtime.session()
    const call = () => session.call('demo.later', { text: 'x' }, { idempotencyKey: 'notes-of-monday' })
    const [one, two] = [await call(), await call()]
    expect([one.ok, two.ok, two.metadata.replayed]).toEqual([true, true, true])
    expect(ran).toEqual(['demo.save', 'demo.send'])
    expect(new Set(records(runtime, 'begin').map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3)
  })

  test('a step waits for a part that asks later, and goes on without running the first part again (NEXT-1)', async () => {
    const runtime = await openWith(tools)
    const session = runtime.session()
    const calls = [{ id: 'provider-0', tool: 'demo.later', input: { text: 'x' } }]
    const one = await session.step(calls)
    await sayYes(runtime, one)
    const two = await session.resume(one)
    expect(two.waiting[0]?.approval.request.tool).toBe('demo.send')
    expect(ran).toEqual(['demo.save'])
    await sayYes(runtime, two)
    const three = await session.resume(two)
    expect(three.waiting).toEqual([])
    expect(three.results.at(-1)).toMatchObject({ ok: true, data: { text: 'demo.send(demo.save(x))' } })
    expect(ran).toEqual(['demo.save', 'demo.send'])
  })
})
