import { codeTools, type RuntimeOptions, type SessionOptions } from 'handrail'
import { claudeAgent, type ClaudeAgentOptions } from 'handrail/claude-agent'
import type { BeginRecord, EndRecord } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { openClaude } from '../support/claude-agent.ts'
import { openDoorShop } from '../support/door-shop.ts'
import { makeFolder } from '../support/project.ts'
import { makeStore } from '../support/shop.ts'

interface Opening {
  path?: string
  project?: string
  door?: Omit<ClaudeAgentOptions, 'runtime'>
  session?: SessionOptions
  options?: RuntimeOptions
  claude?: string
}

/** A shop with tools for code, and an agent in its project. */
async function open(opening: Opening = {}) {
  const { path = makeStore(), project = makeFolder({ 'a.txt': 'one\n', 'vault/key': 'x' }) } = opening
  const policy = {
    rules: [
      { id: 'no-vault', effect: 'deny', resources: ['handrail:file:{project}/vault/**'] },
      { effect: 'deny', tools: ['mcp.github.delete_*'] },
      { effect: 'allow', tools: ['shop.write', 'agent.Skill'] },
    ],
  } as const
  const shop = await openDoorShop(path, { project, policy, ...opening.options })
  await shop.runtime.register([codeTools({ shell: true })])
  const session = shop.runtime.session({ actor: 'ann', ...opening.session })
  const { runtime } = shop
  const door = claudeAgent(session, { runtime, tools: ['shop.*'], ...opening.door })
  const claude = await openClaude(door, { cwd: project, session: opening.claude ?? 'claude-1' })
  const answer = async (decision: 'allow_once' | 'deny' = 'allow_once') => {
    for (const { id } of runtime.approvals.list()) await runtime.approvals.decide(id, { decision, by: 'bob' })
  }
  const records = () =>
    [...runtime.store.records({ tenant: 'local' })].map(
      ({ text }) => JSON.parse(text) as BeginRecord | EndRecord,
    )
  const ends = () =>
    records().flatMap((record) => (record.kind === 'end' ? [`${record.tool} ${record.outcome}`] : []))
  return { ...shop, path, project, session, door, claude, answer, records, ends }
}

const waits = { behavior: 'deny', interrupt: true, message: expect.stringMatching(/waits for .* as apr_/) }

test('the agent is handed the tools of the session under flat names, and the project (NAME-5)', async () => {
  const { claude, door, project } = await open()
  expect(door).toMatchObject({ cwd: project, mcpServers: { handrail: { type: 'sdk', name: 'handrail' } } })
  const { tools } = await claude.client.listTools()
  expect(tools.map(({ name }) => name)).toContain('shop__refund')
  expect(tools.filter(({ name }) => !/^shop__[a-z]+$/.test(name))).toEqual([])
  expect(tools.find(({ name }) => name === 'shop__photo')).toMatchObject({
    description: 'Shows the shop. See also shop__look.',
    inputSchema: { type: 'object' },
  })
  expect(await claude.call('mcp__handrail__shop__look', { order: '7' })).toMatchObject({
    decided: 'ran',
    text: '{"state":"paid 7"}',
    isError: false,
  })
  const failed = await claude.call('mcp__handrail__shop__broken', {})
  expect(failed).toMatchObject({ isError: true, text: expect.stringContaining('Use shop__look instead') })
})

test('images, progress and one write at a time come through the server of the door (TURN-1)', async () => {
  const { claude, seen } = await open()
  const { content } = await claude.client.callTool({ name: 'shop__photo', arguments: {} })
  expect(content.map(({ type }) => type)).toEqual(['text', 'image'])
  const told: unknown[] = []
  const onprogress = (update: unknown): void => void told.push(update)
  await claude.client.callTool({ name: 'shop__count', arguments: {} }, { onprogress })
  expect(told).toEqual([{ progress: 1, total: 2, message: 'counted a half' }])
  await Promise.all(['a', 'b'].map((id) => claude.call('mcp__handrail__shop__write', { id })))
  expect(seen).toEqual(['+a', '-a', '+b', '-b'])
})

test.each<[string, string, Record<string, unknown>, string | object]>([
  ['reads a file', 'Read', { file_path: 'a.txt' }, 'ran'],
  ['reads what a rule denies', 'Read', { file_path: 'vault/key' }, 'denied'],
  ['writes outside', 'Write', { file_path: '/etc/x', content: '' }, 'denied'],
  ['writes a file', 'Write', { file_path: 'b.txt', content: 'x' }, waits],
  ['runs a command', 'Bash', { command: 'make' }, waits],
  ['uses a tool that a rule allows', 'Skill', { skill: 'x' }, 'ran'],
  ['uses a tool that nothing is known of', 'Teleport', { to: 'moon' }, waits],
  ['uses another server', 'mcp__github__create_issue', {}, waits],
  ['uses a denied tool of another server', 'mcp__github__delete_repo', {}, 'denied'],
  ['leaves its sandbox', 'Bash', { command: 'ls', dangerouslyDisableSandbox: true }, 'denied'],
])('an agent that %s is decided about by the policy (PERM-3)', async (...[, tool, input, decided]) => {
  const { claude } = await open()
  expect((await claude.call(tool, input)).decided).toEqual(decided)
})

test('a call of the agent has the evidence that a hook leaves (EVID-1)', async () => {
  const { claude, session, records, ends } = await open()
  await claude.call('Read', { file_path: 'a.txt' })
  await claude.call('Read', { file_path: 'vault/key' })
  const begins = records().filter((record) => record.kind === 'begin')
  expect(begins[0]).toMatchObject({
    tool: 'code.read_file',
    actor: 'ann',
    role: 'main',
    toolCallId: 'toolu_claude-1_1',
    observed: { agent: 'claude-agent-sdk', session: 'claude-1', tool: 'Read' },
    parents: [{ session: session.id, role: 'main' }],
  })
  expect(begins.map(({ session: of }) => of)).toEqual([begins[0]?.session, begins[0]?.session])
  expect(ends()).toEqual(['code.read_file ok', 'code.read_file denied'])
})

test.each([
  ['its own', 'Bash', { command: 'make' }, { command: 'make all' }],
  ['one of the session', 'mcp__handrail__shop__refund', { order: '12' }, { order: '13' }],
])(
  'an answer from elsewhere lets %s through once, after a restart (PERM-3)',
  async (...[, tool, input, other]) => {
    const first = await open()
    const { path, project } = first
    expect((await first.claude.call(tool, input)).decided).toEqual(waits)
    await first.runtime.close()

    const next = await open({ path, project })
    expect((await next.claude.call(tool, input)).decided).toEqual(waits)
    expect(next.runtime.approvals.list()).toHaveLength(1)
    await next.answer()
    expect((await next.claude.call(tool, other)).decided).toEqual(waits)
    expect(next.done).toEqual([])
    expect(await next.claude.call(tool, input)).toMatchObject({ decided: 'ran', isError: false })
    expect((await next.claude.call(tool, input)).decided).toEqual(waits)
    expect(next.done).toEqual(tool === 'Bash' ? [] : ['12'])
  },
)

test('a yes is for the actor and role that asked, whatever session of the agent comes back (PERM-3)', async () => {
  const { path, project, claude, answer, runtime } = await open()
  await claude.call('Bash', { command: 'make' })
  await answer()
  await runtime.close()
  const decidedFor = async (session: SessionOptions, id: string) => {
    const opened = await open({ path, project, session, claude: id })
    const { decided } = await opened.claude.call('Bash', { command: 'make' })
    await opened.runtime.close()
    return decided
  }
  expect(await decidedFor({ actor: 'eve' }, 'claude-1')).toEqual(waits)
  expect(await decidedFor({ role: 'orchestrator' }, 'claude-1')).toEqual(waits)
  expect(await decidedFor({}, 'claude-2')).toBe('ran')
})

test('a no ends the call, and its reason is what the model reads (PERM-3)', async () => {
  const { claude, answer, done } = await open()
  for (const [tool, input] of [
    ['Bash', { command: 'make' }],
    ['mcp__handrail__shop__refund', { order: '12' }],
  ] as const) {
    await claude.call(tool, input)
    await answer('deny')
    const { decided, reason, text } = await claude.call(tool, input)
    expect(decided).toBe(tool === 'Bash' ? 'denied' : 'ran')
    expect(`${reason} ${text}`).toContain('The person denied')
  }
  expect(done).toEqual([])
})

test('a consent answers for the person, and the tools of the agent are those of the session (PERM-3)', async () => {
  const { claude, runtime, session, door, project } = await open({ session: { mode: 'plan' } })
  expect((await claude.call('Write', { file_path: 'b.txt', content: '' })).decided).toBe('denied')
  const narrow = runtime.session({ actor: 'ann', allowedTools: ['shop.*'] })
  const agent = await openClaude(claudeAgent(narrow, { runtime }), { cwd: project, session: 'claude-2' })
  expect((await agent.call('Read', { file_path: 'a.txt' })).decided).toBe('denied')
  await runtime.consents.give({ tool: 'code.run_shell', actor: 'ann', givenBy: 'bob' })
  const wide = runtime.session({ actor: 'ann' })
  const free = await openClaude(claudeAgent(wide, { runtime }), { cwd: project, session: 'claude-3' })
  expect((await free.call('Bash', { command: 'make' })).decided).toBe('ran')
  await session.close()
  expect((await claude.call('Read', { file_path: 'a.txt' })).decided).toBe('denied')
  expect((await openClaude(door, { cwd: project })).client.getServerVersion()?.name).toBe('handrail')
})

test('what a run leaves open when it is interrupted is unknown once it is resumed, and never told twice (EVID-1)', async () => {
  const { claude, ends } = await open()
  const what = { tool_name: 'Read', tool_input: { file_path: 'a.txt' }, tool_use_id: 'toolu_open' }
  await claude.tell('PreToolUse', what, 'toolu_open')
  await claude.call('Bash', { command: 'make' })
  expect(ends()).toEqual(['code.run_shell waiting'])
  await claude.call('Read', { file_path: 'a.txt' })
  expect(ends()).toEqual(['code.run_shell waiting', 'code.read_file unknown', 'code.read_file ok'])
  await claude.tell('PostToolUse', { ...what, tool_response: 'late' }, 'toolu_open')
  expect(ends()).toHaveLength(3)
})

test('a turn that is over ends what it left open, unless it runs on in the background (EVID-1)', async () => {
  const { claude, ends } = await open()
  const what = { tool_name: 'Read', tool_input: { file_path: 'a.txt' }, tool_use_id: 'toolu_open' }
  await claude.tell('PreToolUse', what, 'toolu_open')
  await claude.tell('Stop', { background_tasks: [{ id: 'b1' }] })
  expect(ends()).toEqual([])
  await claude.tell('Stop', { background_tasks: [] })
  expect(ends()).toEqual(['code.read_file unknown'])
  expect((await claude.call('Read', { file_path: 'a.txt' })).decided).toBe('ran')
})

test('what the policy leaves to the agent is for the program, which changes no call that was decided (PERM-3)', async () => {
  const asked: string[] = []
  const say = (more: object) => async (tool: string, input: Record<string, unknown>) => {
    asked.push(tool)
    return { behavior: 'allow' as const, updatedInput: { ...input, ...more } }
  }
  const quiet = await open()
  const plan = { plan: 'build it' }
  expect((await quiet.claude.call('ExitPlanMode', plan)).decided).toMatchObject({ behavior: 'deny' })
  const asks = { asks: true }
  expect((await quiet.claude.call('Read', { file_path: 'a.txt' }, asks)).decided).toMatchObject({
    behavior: 'allow',
  })
  const rule = { asks: true, matchedAskRule: { source: 'userSettings', toolName: 'Read' } }
  expect((await quiet.claude.call('Read', { file_path: 'a.txt' }, rule)).decided).toMatchObject({
    behavior: 'deny',
  })
  expect(quiet.ends().at(-1)).toBe('code.read_file aborted')

  const { claude } = await open({ door: { canUseTool: say({ answers: 'x' }) } })
  expect((await claude.call('AskUserQuestion', {})).decided).toMatchObject({ updatedInput: { answers: 'x' } })
  expect((await claude.call('Read', { file_path: 'a.txt' }, asks)).decided).toMatchObject({
    behavior: 'deny',
    message: expect.stringContaining('was changed'),
  })
  expect((await claude.call('Bash', { command: 'make' })).decided).toEqual(waits)
  expect(asked).toEqual(['AskUserQuestion', 'Read'])
})

test('what cannot be decided is denied (PERM-3)', async () => {
  const { claude, door, runtime } = await open()
  const { signal } = new AbortController()
  const unseen = await door.canUseTool('Read', {}, { toolUseID: 'toolu_none', signal } as never)
  expect(unseen).toMatchObject({ behavior: 'deny', message: expect.stringContaining('hooks too') })
  const broken = await claude.tell(
    'PreToolUse',
    { tool_name: 'Read', tool_input: 'x', tool_use_id: 't' },
    't',
  )
  expect(broken).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
  expect(door.hooks.PreToolUse).toMatchObject([{ onFailure: 'block' }])
  const strange = { mcp_server: { name: 'handrail', source: 'project' } }
  const foreign = { tool_name: 'mcp__handrail__shop__look', tool_input: {}, tool_use_id: 'f', ...strange }
  expect(await claude.tell('PreToolUse', foreign, 'f')).toMatchObject({
    hookSpecificOutput: { permissionDecision: 'ask' },
  })
  expect(runtime.approvals.list().map(({ request }) => request.tool)).toEqual(['mcp.handrail.shop__look'])
  await runtime.close()
  const after = await claude.tell('PreToolUse', { tool_name: 'Read', tool_input: {}, tool_use_id: 'c' }, 'c')
  expect(after).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } })
})

test('a tool that the agent was not handed does not run, and an unknown one is recorded (EVID-1)', async () => {
  const { claude, ends } = await open({ door: { tools: ['shop.look'] } })
  for (const name of ['shop__refund', 'shop.refund', 'shop__nope']) {
    const result = await claude.client.callTool({ name, arguments: { order: '12' } })
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('There is no tool') }],
    })
  }
  expect(ends().map((end) => end.split(' ')[1])).toEqual(['denied', 'denied', 'denied'])
})

test('options that are not right are refused at once', async () => {
  const { session, runtime } = await open()
  const other = await open()
  const tries: [() => unknown, RegExp][] = [
    [() => claudeAgent(session, {} as never), /claudeAgent\(session, \{ runtime \}\)/],
    [() => claudeAgent(session, { runtime, tool: [] } as never), /There is no field "tool"; .*"tools"/],
    [() => claudeAgent(session, { runtime, tools: 'shop.*' } as never), /\/tools: Give a list/],
    [() => claudeAgent(session, { runtime, canUseTool: true } as never), /"canUseTool" has to be a function/],
    [() => claudeAgent(session, { runtime: other.runtime }), /the runtime that opened it/],
  ]
  for (const [make, message] of tries) expect(make).toThrow(message)
})
