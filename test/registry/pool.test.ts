import { codeTools, createRuntime, type Mode, type Role, type RuntimeEvent, type Tool } from 'handrail'
import { mcpTools } from 'handrail/mcp'
import { assembleToolPool, type ToolPoolRequest } from 'handrail/tools'
import { expect, test } from 'vitest'
import { makeSource, makeTool } from '../support/make-tool.ts'
import { makeFolder, openRuntime } from '../support/project.ts'

const pool = {
  base: ['b.two', 'b.one'].map((name) => makeTool(name)),
  custom: [makeTool('c.one')],
  mcp: [makeSource('mcp', 'mcp.s', [makeTool('mcp.s.one')])],
}

/** What a session of a runtime with this pool can call. */
async function namesOf(request: ToolPoolRequest): Promise<string[]> {
  const runtime = await openRuntime({ ...assembleToolPool(request), onError: () => {} })
  return runtime
    .session()
    .tools()
    .map(({ tool }) => tool)
}

const answer = (name: string, who: string) => ({ ...makeTool(name), run: () => who })

test('assembleToolPool puts three origins together for a runtime: mcp over custom over base (POOL-1)', async () => {
  expect(await namesOf(pool)).toEqual(['b.one', 'b.two', 'c.one', 'mcp.s.one'])
  const reports: string[] = []
  const runtime = await openRuntime({
    ...assembleToolPool({
      base: [...pool.base, codeTools()],
      custom: [answer('b.one', 'custom'), answer('b.two', 'custom'), answer('code.glob', 'custom')],
      mcp: [makeSource('mcp', 'mcp.s', [answer('b.two', 'mcp')])],
    }),
    onError: ({ cause }) => reports.push(String(cause)),
  })
  const session = runtime.session()
  const answers = ['b.one', 'b.two', 'code.glob'].map(async (name) => (await session.call(name)).data)
  expect(await Promise.all(answers)).toEqual(['custom', 'mcp', 'custom'])
  expect(runtime.registry.find('code.read_file')?.source).toBe('builtin.code')
  expect(reports).toEqual([expect.stringContaining('"b.two" of source "mcp.s"') as string])
})

test.each([
  ['no lists', {}, ['b.one', 'b.two', 'c.one', 'mcp.s.one']],
  ['an empty allow-list means no filter', { allowed: [] }, ['b.one', 'b.two', 'c.one', 'mcp.s.one']],
  ['an allow-list', { allowed: ['b.one', 'mcp.s.one'] }, ['b.one', 'mcp.s.one']],
  ['a deny-list', { disallowed: ['b.one'] }, ['b.two', 'c.one', 'mcp.s.one']],
  ['deny beats allow', { allowed: ['b.one', 'b.two'], disallowed: ['b.one'] }, ['b.two']],
  ['an unknown name allows nothing', { allowed: ['x.y'] }, []],
  ['patterns', { allowed: ['b.*', 'mcp.*'], disallowed: ['*.two'] }, ['b.one', 'mcp.s.one']],
])('assembleToolPool with %s (POOL-1)', async (_, lists, expected) => {
  expect(await namesOf({ ...pool, ...lists })).toEqual(expected)
})

test.each(['base', 'custom'] as const)('two tools of one name in %s are told (POOL-1)', async (origin) => {
  const twice = { ...pool, [origin]: [answer('d.one', 'first'), answer('d.one', 'second')] }
  await expect(namesOf(twice)).rejects.toMatchObject({ code: 'duplicate_tool' })
})

test('tools of servers keep their source in a pool: pinned, and left out one by one (POOL-1, DEF-10)', async () => {
  const store = { path: `${makeFolder()}/store.db` }
  const open = (...tools: Tool[]) =>
    openRuntime({
      ...assembleToolPool({
        base: codeTools().list(),
        mcp: [makeSource('mcp', 'mcp.s', tools), mcpTools({ servers: {} })],
      }),
      store,
      onError: () => {},
    })
  const first = await open(makeTool('mcp.s.one'), makeTool('mcp.s..bad'))
  expect(first.registry.list().filter(({ source }) => source === 'mcp.s')).toHaveLength(1)
  expect(first.registry.find('code.glob')?.identity).toMatch(/^builtin:/)
  await first.close()
  const second = await open(makeTool('mcp.s.one', { description: 'Says something else.' }))
  expect((await second.session().call('mcp.s.one')).error?.reason).toBe('definition_pending')
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
])('refuses %s: %j, which is not a list of names (POOL-1)', async (field, value) => {
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
    const issues = [{ pointer: `/${field}/1`, code: 'never_matches' }]
    const lists = { [field]: ['demo.read', 'demo'] }
    expect(() => runtime.session(lists)).toThrow(
      expect.objectContaining({
        issues: [expect.objectContaining(issues[0])],
        message: expect.stringContaining('write "demo.*"') as unknown,
      }),
    )
    await expect(createRuntime({ project: makeFolder(), ...lists })).rejects.toMatchObject({ issues })
  },
)
