import { assembleToolPool, codeTools, createRuntime, type Mode, type Role, type RuntimeEvent } from 'handrail'
import { expect, test } from 'vitest'
import { makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

const names = (tools: readonly { definition: { name: string } }[]) =>
  tools.map((tool) => tool.definition.name)
const pool = {
  base: ['b.two', 'b.one'].map((name) => makeTool(name)),
  custom: [makeTool('c.one')],
  mcp: [makeTool('mcp.s.one')],
}

test('assembleToolPool puts three origins together, in name order, each name once (POOL-1)', () => {
  expect(names(assembleToolPool(pool))).toEqual(['b.one', 'b.two', 'c.one', 'mcp.s.one'])
  const custom = { ...makeTool('b.one'), run: () => 'custom' }
  const mcp = { ...makeTool('b.one'), run: () => 'mcp' }
  expect(assembleToolPool({ ...pool, custom: [custom] })[0]).toBe(custom)
  const all = assembleToolPool({ ...pool, custom: [custom], mcp: [mcp] })
  expect(names(all)).toEqual(['b.one', 'b.two'])
  expect(all[0]).toBe(mcp)
})

test.each([
  ['no lists', {}, ['b.one', 'b.two', 'c.one', 'mcp.s.one']],
  ['an empty allow-list means no filter', { allowed: [] }, ['b.one', 'b.two', 'c.one', 'mcp.s.one']],
  ['an allow-list', { allowed: ['b.one', 'mcp.s.one'] }, ['b.one', 'mcp.s.one']],
  ['a deny-list', { disallowed: ['b.one'] }, ['b.two', 'c.one', 'mcp.s.one']],
  ['deny beats allow', { allowed: ['b.one', 'b.two'], disallowed: ['b.one'] }, ['b.two']],
  ['an unknown name allows nothing', { allowed: ['x.y'] }, []],
  ['patterns', { allowed: ['b.*', 'mcp.*'], disallowed: ['*.two'] }, ['b.one', 'mcp.s.one']],
])('assembleToolPool with %s (POOL-1)', (_, lists, expected) => {
  expect(names(assembleToolPool({ ...pool, ...lists }))).toEqual(expected)
})

const tools = ['demo.read', 'demo.more', 'shop.pay'].map((name) =>
  makeTool(name, name === 'shop.pay' ? { permission: 'write' } : {}),
)

test.each<[string, { allowedTools?: string[]; disallowedTools?: string[] }, string[]]>([
  ['no lists', {}, ['demo.more', 'demo.read', 'shop.pay']],
  ['an empty allow-list', { allowedTools: [] }, ['demo.more', 'demo.read', 'shop.pay']],
  ['a pattern', { allowedTools: ['demo.*'] }, ['demo.more', 'demo.read']],
  ['a pattern that matches no tool', { allowedTools: ['demo.rea'] }, []],
  ['deny over allow', { allowedTools: ['demo.*'], disallowedTools: ['*.read'] }, ['demo.more']],
  ['everything denied', { disallowedTools: ['*'] }, []],
])(
  'the set of a session with %s, from the session or from the configuration (POOL-1, POOL-2)',
  async (_, lists, expected) => {
    const plain = await openRuntime({ tools })
    expect(
      plain
        .session(lists)
        .tools()
        .map((tool) => tool.tool),
    ).toEqual(expected)
    const configured = await openRuntime({ tools, ...lists })
    expect(
      configured
        .session()
        .tools()
        .map((tool) => tool.tool),
    ).toEqual(expected)
  },
)

test('a session can only narrow what the configuration lets through (POOL-2)', async () => {
  const runtime = await openRuntime({ tools, allowedTools: ['demo.*'], disallowedTools: ['demo.more'] })
  const set = (lists: { allowedTools?: string[]; disallowedTools?: string[] }) =>
    runtime
      .session(lists)
      .tools()
      .map((tool) => tool.tool)
  expect(set({ allowedTools: ['*'] })).toEqual(['demo.read'])
  expect(set({ allowedTools: [] })).toEqual(['demo.read'])
  expect(set({ allowedTools: ['shop.pay', 'demo.more'] })).toEqual([])
  expect(set({ disallowedTools: ['demo.read'] })).toEqual([])
})

test('what is not shown cannot be called: the set is a boundary, not advice (POOL-2)', async () => {
  const runtime = await openRuntime({
    tools,
    approve: async () => ({ decision: 'allow_once' }),
    policy: { rules: [{ effect: 'allow' }] },
  })
  const session = runtime.session({ disallowedTools: ['demo.read'], mode: 'plan' })
  expect(session.tools().map((tool) => tool.tool)).toEqual(['demo.more'])
  for (const tool of ['demo.read', 'shop.pay']) {
    expect(await session.call(tool)).toMatchObject({
      ok: false,
      outcome: 'denied',
      error: { code: 'POLICY.DENY_TOOL' },
    })
    expect((await session.preflight(tool)).effect).toBe('deny')
  }
})

test('an allow rule or bypass mode brings nothing back into the set (POOL-2)', async () => {
  const runtime = await openRuntime({
    tools,
    policy: { allowBypass: true, rules: [{ effect: 'allow', tools: ['*'] }] },
    disallowedTools: ['shop.*'],
  })
  const result = await runtime.session({ mode: 'bypass' }).call('shop.pay')
  expect(result.error).toMatchObject({ reason: 'tool_not_available' })
})

test.each<[string, { role?: Role; mode?: Mode; disallowedTools?: string[] }, string, string]>([
  ['outside of the session', { disallowedTools: ['demo.*'] }, 'demo.read', 'tool_not_available'],
  ['unknown', {}, 'demo.raed', 'tool_not_available'],
  ['a write in plan mode', { mode: 'plan' }, 'shop.pay', 'mode_denied'],
  ['outside of the default of a worker', { role: 'worker' }, 'demo.read', 'tool_not_available'],
  ['never for a sub-agent', { role: 'sub' }, 'agent.create_sub_agent', 'role_denied'],
])(
  'a call of a tool that is %s is denied with its reason and an event, and the run goes on (POOL-7)',
  async (...[, session, tool, reason]) => {
    const events: RuntimeEvent[] = []
    const runtime = await openRuntime({
      tools: [...tools, makeTool('agent.create_sub_agent'), codeTools()],
      project: makeFolder({ 'a.txt': 'a' }),
      onEvent: (event) => events.push(event),
    })
    const run = runtime.session(session)
    const { results } = await run.turn([{ id: 'one', tool, input: {} }])
    expect(results).toHaveLength(1)
    expect(results[0]).toMatchObject({
      toolCallId: 'one',
      outcome: 'denied',
      error: { code: 'POLICY.DENY_TOOL', reason, actor: 'operator', next: 'try_another' },
    })
    const next = await run.turn([{ id: 'two', tool: 'code.read_file', input: { path: 'a.txt' } }])
    expect(next.results[0]).toMatchObject({ toolCallId: 'two', ok: true })
    const denied = events.filter((event) => event.type === 'tool_denied')
    expect(denied).toMatchObject([{ tool, toolCallId: 'one', level: 'failure', data: { reason } }])
    const ends = [...runtime.store.records({ kind: 'end' })].map(
      (record) => JSON.parse(record.text) as { outcome: string; reason?: string },
    )
    expect(ends).toMatchObject([{ outcome: 'denied', reason }, { outcome: 'ok' }])
  },
)

test('the other calls of the turn go on beside an unknown tool (POOL-7)', async () => {
  const runtime = await openRuntime({ tools })
  const { results, endReason } = await runtime
    .session()
    .turn([{ tool: 'shop.unknown' }, { tool: 'demo.read' }])
  expect(endReason).toBe('completed')
  expect(results.map((result) => result.outcome)).toEqual(['denied', 'ok'])
})

test.each([
  ['allowedTools', 'demo.*'],
  ['disallowedTools', { tool: 'demo.read' }],
  ['disallowedTools', [7]],
])('refuses %s: %j, which is no list of names (POOL-1)', async (field, value) => {
  const runtime = await openRuntime({ tools })
  expect(() => runtime.session({ [field]: value })).toThrow(
    expect.objectContaining({ code: 'invalid_options' }),
  )
  await expect(createRuntime({ project: makeFolder(), [field]: value })).rejects.toMatchObject({
    code: 'invalid_options',
  })
})

test.each(['allowedTools', 'disallowedTools'])(
  'refuses %s with a pattern that could match no tool, and says how to name a group (POOL-1)',
  async (field) => {
    const runtime = await openRuntime({ tools })
    const faults = [{ pointer: `/${field}/1`, code: 'never_matches' }]
    const lists = { [field]: ['demo.read', 'demo'] }
    expect(() => runtime.session(lists)).toThrow(
      expect.objectContaining({
        faults: [expect.objectContaining(faults[0])],
        message: expect.stringContaining('write "demo.*"') as unknown,
      }),
    )
    await expect(createRuntime({ project: makeFolder(), ...lists })).rejects.toMatchObject({ faults })
  },
)
