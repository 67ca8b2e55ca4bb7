import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeTools, defineTool, jobTools, type Policy, type RuntimeOptions, type Session } from 'handrail'
import { createAgentDefinitionRegistry, delegationTools, type AgentDefinition } from 'handrail/agents'
import { explainCall } from 'handrail/replay'
import { planTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { modelSaying, toldResults, type ModelAsked, type Said } from '../support/mock-model.ts'
import { giveAway, makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { gitAsOwner, makeRepository } from '../support/repository.ts'

const tools = [codeTools(), delegationTools(), jobTools(), planTools()]

/** Lets the agents make worktrees and change files in the project. */
const allowed: Policy = {
  rules: [
    { effect: 'allow', tools: ['code.enter_worktree', 'code.write_file', 'code.undo'] },
    { effect: 'allow', tools: ['code.run_command'], argv: ['*', '**'] },
  ],
}

function newProject(files: Record<string, string> = {}): string {
  const project = makeFolder({ 'a.txt': 'alpha\n', ...files })
  makeRepository(project)
  giveAway(project)
  return project
}

const open = (options: RuntimeOptions) => openRuntime({ tools, policy: allowed, sandbox: 'host', ...options })

const input = { task: 'Go.', isolation: 'worktree' }
const write = (path: string, content = 'new\n'): Said => ({
  calls: [{ tool: 'code__write_file', input: { path, content, overwrite: true } }],
})
const writer = { allowed_tools: ['code.write_file', 'code.read_file', 'code.run_command', 'code.undo'] }

interface Ended {
  ok: boolean
  error?: { code: string; reason: string; message: string; data?: object }
  data: { agent_id: string; worktree?: { path: string; branch: string } }
}
const create = async (session: Session, more: object = {}) =>
  (await session.call('agent.create_sub_agent', { ...input, ...writer, ...more })) as unknown as Ended

const textOf = (asked: ModelAsked | undefined) => JSON.stringify(asked?.prompt ?? [])
const worktreesOf = (project: string) =>
  gitAsOwner(project, 'worktree', 'list', '--porcelain').split('\n\n').length - 1
const branchesOf = (project: string) => gitAsOwner(project, 'branch', '--format=%(refname:short)').trim()

test('an agent with a worktree changes that and not the project, and its changes are kept and named (AGENT-2, BI-6)', async () => {
  const project = newProject()
  const { model, asked } = modelSaying([
    write('a.txt'),
    { calls: [{ tool: 'code__read_file', input: { path: 'a.txt' } }] },
    { text: 'Changed.' },
  ])
  const runtime = await open({ project, agents: { model } })
  const session = runtime.session()
  const ended = await create(session)
  expect(ended.error).toBeUndefined()
  const name = ended.data.agent_id.replace('run_', 'agent-')
  const worktree = { path: `.handrail/worktrees/${name}`, branch: `handrail/${name}` }
  expect(ended.data.worktree).toEqual(worktree)
  expect(JSON.stringify(ended)).toContain('merge what you want')
  expect(textOf(asked[2])).toContain('new')
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('alpha\n')
  expect(readFileSync(join(project, worktree.path, 'a.txt'), 'utf8')).toBe('new\n')
  expect(branchesOf(project)).toContain(worktree.branch)
  const seen = await session.call('agent.inspect_agent', { agent_id: ended.data.agent_id })
  expect(seen.data).toMatchObject({ worktree })
  // The parent ends it as any other worktree.
  const lost = await session.call('code.exit_worktree', { id: name, action: 'keep' })
  expect(lost.error).toMatchObject({ code: 'POLICY.APPROVAL_DENIED' })
})

test('a worktree without changes goes with its agent, branch and all, and the evidence says so (AGENT-2, BI-6)', async () => {
  const project = newProject()
  const { model } = modelSaying([
    { calls: [{ tool: 'code__read_file', input: { path: 'a.txt' } }] },
    { text: 'Seen.' },
  ])
  const runtime = await open({ project, agents: { model } })
  const ended = await create(runtime.session())
  expect(ended).toMatchObject({ ok: true })
  expect(ended.data.worktree).toBeUndefined()
  expect(worktreesOf(project)).toBe(1)
  expect(branchesOf(project)).toBe('main')
  expect(gitAsOwner(project, 'status', '--porcelain')).toBe('')
  const records = [...runtime.store.records({ tenant: 'local' })].map(({ text }) => text)
  const tree = expect.stringContaining('/.handrail/worktrees/agent-') as string
  const begins = records.map((text) => JSON.parse(text) as { kind: string; tool: string; worktree?: string })
  expect(begins.find(({ tool }) => tool === 'code.read_file')).toMatchObject({ worktree: tree })
  expect(begins.find(({ tool }) => tool === 'code.enter_worktree')).toMatchObject({ origin: 'system' })
  expect(records.filter((text) => text.includes('"worktree_removed"'))).toHaveLength(1)
})

test('commits that only its branch has are kept, and so is a worktree on another branch (BI-6)', async () => {
  const project = newProject()
  const run = (...argv: string[]): Said => ({ calls: [{ tool: 'code__run_command', input: { argv } }] })
  const commit = [
    'git',
    '-c',
    'user.name=A',
    '-c',
    'user.email=a@example.com',
    'commit',
    '-q',
    '--allow-empty',
  ]
  const { model, asked } = modelSaying([
    run(...commit, '-m', 'mine'),
    { text: 'Committed.' },
    run('git', 'checkout', '-q', '-b', 'other'),
    { text: 'Switched.' },
  ])
  const runtime = await open({ project, agents: { model } })
  const first = await create(runtime.session())
  expect(textOf(asked[1])).toContain('exit code 0')
  expect(first.data.worktree?.branch).toMatch(/^handrail\/agent-/)
  expect(gitAsOwner(project, 'log', '-1', '--format=%s', first.data.worktree?.branch ?? '').trim()).toBe(
    'mine',
  )
  const second = await create(runtime.session())
  expect(second.data.worktree).toMatchObject({ branch: 'other' })
  expect(worktreesOf(project)).toBe(3)
})

test('a worktree with nothing but ignored files is kept, as they may be work (AGENT-2, BI-6)', async () => {
  const project = newProject({ '.gitignore': 'built/\n' })
  const { model } = modelSaying([write('built/out.txt'), { text: 'Built.' }])
  const runtime = await open({ project, agents: { model } })
  const ended = await create(runtime.session())
  expect(existsSync(join(project, ended.data.worktree?.path ?? '', 'built/out.txt'))).toBe(true)
})

test('an agent in a worktree writes nothing else: not the project, not what it could write before (AGENT-2, POOL-4)', async () => {
  const project = newProject()
  const other = makeFolder({ 'o.txt': 'other\n' })
  const { model, asked } = modelSaying([
    write(join(project, 'a.txt')),
    write('../../../a.txt'),
    write(join(other, 'o.txt')),
    { calls: [{ tool: 'code__read_file', input: { path: join(other, 'o.txt') } }] },
    write('.git'),
    write('.npmrc'),
    { text: 'Done.' },
  ])
  const runtime = await open({ project, writeRoots: [project, other], agents: { model } })
  expect(await create(runtime.session())).toMatchObject({ ok: true })
  const told = toldResults(asked[6] ?? { prompt: [] })
  for (const at of [0, 1, 2]) expect(told[at]).toContain('CAPABILITY_BLOCKED')
  expect(told[3]).toContain('other')
  for (const at of [4, 5]) expect(told[at]).toMatch(/protected/)
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('alpha\n')
  expect(readFileSync(join(other, 'o.txt'), 'utf8')).toBe('other\n')
})

const reader = {
  id: 'reader',
  description: 'Reads.',
  instructions: 'You read.',
  isolation: 'worktree' as const,
}
const lead: AgentDefinition = { ...reader, id: 'lead', role: 'orchestrator', tools: ['agent.*', 'code.*'] }
const services = { agentDefinitions: createAgentDefinitionRegistry({ definitions: [reader, lead] }) }

test.each([
  ['plan mode', { policy: { ...allowed, mode: 'plan' } }, 'mode_denied'],
  ['a rule', { policy: { rules: [{ effect: 'deny', tools: ['code.enter_worktree'] }] } }, 'rule_denied'],
  ['a rule on its folder', { policy: noFolder() }, 'rule_denied'],
  ['the lists of the operator', { disallowedTools: ['code.enter_worktree'] }, 'tool_not_available'],
  ['a grant', { policy: { ...allowed, grants: [{ tools: ['agent.*', 'code.read_file'] }] } }, 'not_granted'],
  ['a person', { policy: {}, approve: personSaying('deny').approve }, 'denied'],
  ['the lack of a person', { policy: {} }, 'no_callback'],
] as [string, RuntimeOptions, string][])(
  'an agent has no worktree where its parent may make none: by %s (AGENT-2, POOL-4)',
  async (_by, options, because) => {
    const project = newProject()
    const { model } = modelSaying([])
    const runtime = await open({ project, agents: { model, childrenPerSession: 1 }, services, ...options })
    const session = runtime.session()
    for (const wish of [{ isolation: 'worktree' }, { agent_definition_id: 'reader', isolation: undefined }]) {
      const { error } = await create(session, wish)
      expect(error).toMatchObject({ reason: 'no_isolation' })
      if (because !== 'not_granted') expect(error?.data).toMatchObject({ because })
    }
    expect(runtime.runs.list()).toEqual([])
    expect(worktreesOf(project)).toBe(1)
    expect([...runtime.store.documents({ tenant: 'local', kind: 'worktree' })]).toEqual([])
  },
)

function noFolder(): Policy {
  const resources = ['handrail:file:{project}/.handrail/**']
  return { rules: [{ effect: 'deny', tags: ['write'], resources }, ...(allowed.rules ?? [])] }
}

test('an agent in a worktree has no worktree below its own, and a project without a repository has none (AGENT-2)', async () => {
  const below = modelSaying([])
  const above = modelSaying([
    { calls: [{ tool: 'agent__create_sub_agent', input: { ...input, model: 'below' } }] },
    { text: 'No.' },
  ])
  const project = newProject()
  const agents = { model: above.model, models: { below: below.model } }
  const runtime = await open({ project, agents, services })
  expect(
    await create(runtime.session(), { agent_definition_id: 'lead', allowed_tools: undefined }),
  ).toMatchObject({ ok: true })
  expect(toldResults(above.asked[1] ?? { prompt: [] })[0]).toMatch(/no_isolation.*not the top folder/)
  const bare = await open({ project: makeFolder(), agents })
  expect((await create(bare.session())).error).toMatchObject({
    reason: 'no_isolation',
    data: { because: 'no_repository' },
  })
})

test('an agent that an agent in a worktree starts is held to the same one (AGENT-2, POOL-4)', async () => {
  const project = newProject()
  const { model } = modelSaying([
    { calls: [{ tool: 'agent__create_sub_agent', input: { task: 'Below.', ...writer } }] },
    write('b.txt'),
    { text: 'Below done.' },
    { text: 'Done.' },
  ])
  const runtime = await open({ project, agents: { model }, services })
  const ended = await create(runtime.session(), { agent_definition_id: 'lead', allowed_tools: undefined })
  expect(existsSync(join(project, 'b.txt'))).toBe(false)
  expect(existsSync(join(project, ended.data.worktree?.path ?? '', 'b.txt'))).toBe(true)
})

test('rules of the project hold in a worktree by both names of a path (AGENT-2, PERM-4)', async () => {
  const project = newProject({ 'closed/c.txt': 'secret\n' })
  const resources = ['handrail:file:{project}/closed/**']
  const elsewhere = [{ effect: 'deny' as const, tools: ['code.edit_file'], projects: [project] }]
  const policy = { rules: [{ effect: 'deny' as const, resources }, ...elsewhere, ...(allowed.rules ?? [])] }
  const read = (path: string): Said => ({ calls: [{ tool: 'code__read_file', input: { path } }] })
  const { model, asked } = modelSaying([
    read('closed/c.txt'),
    read(join(project, 'closed/c.txt')),
    { calls: [{ tool: 'code__search', input: { pattern: 'secret' } }] },
    {
      calls: [
        {
          tool: 'code__edit_file',
          input: { path: 'a.txt', edits: [{ old: 'alpha', new: 'b' }] },
        },
      ],
    },
    { text: 'Done.' },
  ])
  const runtime = await open({ project, policy, agents: { model } })
  await create(runtime.session(), { allowed_tools: ['code.*'] })
  const told = toldResults(asked[4] ?? { prompt: [] })
  expect(told[0]).toContain('rule_denied')
  expect(told[1]).toContain('rule_denied')
  expect(told[2]).not.toContain('c.txt:')
  expect(told[3]).toContain('rule_denied')
})

test('a person who is asked for the worktree is asked once, and the run goes on after a restart (AGENT-3, PERM-4)', async () => {
  const project = newProject()
  const options = { project, policy: {}, home: makeFolder(), store: { path: `${makeFolder()}/s.db` } }
  const { model, asked } = modelSaying([
    { calls: [{ tool: 'agent__create_sub_agent', input }] },
    { text: 'Seen.' },
    { text: 'Done.' },
  ])
  const before = await open(options)
  const run = await before.run({ model, prompt: 'Begin.' })
  const first = await run.result
  expect(first).toMatchObject({
    endReason: 'approval_pending',
    waiting: [{ request: { tool: 'code.enter_worktree' } }],
  })
  await before.close()
  const after = await open(options)
  await after.approvals.decide(first.waiting[0]?.id ?? '', { decision: 'allow_once', by: 'ada' })
  expect(await (await after.run({ model, resume: run.id })).result).toMatchObject({ text: 'Done.' })
  expect(asked).toHaveLength(3)
  expect(after.approvals.list()).toEqual([])
  expect(worktreesOf(project)).toBe(1)
})

test('what an agent read of AGENTS.md is that of its worktree (AGENT-2)', async () => {
  const project = newProject({ 'AGENTS.md': 'Committed rules.\n' })
  writeFileSync(join(project, 'AGENTS.md'), 'Rules of the project by now.\n')
  const { model, asked } = modelSaying([
    { calls: [{ tool: 'code__read_file', input: { path: 'AGENTS.md' } }] },
    { text: 'Read.' },
  ])
  const runtime = await open({ project, agents: { model } })
  await create(runtime.session())
  expect(textOf(asked[1])).toContain('Committed rules.')
  expect(textOf(asked[1])).not.toContain('by now')
})

test('an agent takes back its own change in its worktree, and nothing of the project (AGENT-2)', async () => {
  const project = newProject()
  const { model, asked } = modelSaying([
    write('a.txt'),
    { calls: [{ tool: 'code__undo' }] },
    { text: 'Done.' },
  ])
  const store = { path: `${makeFolder()}/s.db` }
  const runtime = await open({ project, agents: { model }, store })
  const session = runtime.session()
  await session.call('code.write_file', { path: 'a.txt', content: 'mine\n', overwrite: true })
  const ended = await create(session)
  expect(toldResults(asked[2] ?? { prompt: [] })[1]).not.toMatch(/^\w+\.\w+ \(/)
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('mine\n')
  expect(ended.data.worktree).toBeUndefined()
})

test('what a command of an agent writes lands in its worktree alone, and git there only looks (AGENT-2, FS-41)', async () => {
  const project = newProject()
  const script = 'echo b > b.txt; echo c > ../../../c.txt; cd ../../..; echo d > d.txt; true'
  const commit = 'git add -A && git -c user.name=A -c user.email=a@example.com commit -qm mine; true'
  const shell = (text: string): Said => ({
    calls: [{ tool: 'code__run_command', input: { argv: ['sh', '-c', text] } }],
  })
  const { model, asked } = modelSaying([
    shell(script),
    shell('git -c safe.directory=* status --short'),
    shell(commit),
    { text: 'Done.' },
  ])
  const runtime = await open({ project, agents: { model }, sandbox: undefined })
  const ended = await create(runtime.session())
  expect(ended.error).toBeUndefined()
  const told = toldResults(asked[3] ?? { prompt: [] })
  expect(told.join('\n')).not.toContain('UNAVAILABLE')
  expect(told[1]).toContain('?? b.txt')
  const { path = '', branch = '' } = ended.data.worktree ?? {}
  expect(readFileSync(join(project, path, 'b.txt'), 'utf8')).toBe('b\n')
  for (const name of ['b.txt', 'c.txt', 'd.txt']) expect(existsSync(join(project, name))).toBe(false)
  expect(gitAsOwner(project, 'log', '--format=%s', branch).trim()).toBe('work')
})

test('one key for the same path in two trees is refused, rather than answered with the file of the other (AGENT-2)', async () => {
  const project = newProject()
  const put = defineTool({
    name: 'demo.put',
    description: 'Writes k.txt once for each key.',
    permission: 'write',
    sideEffect: 'filesystem',
    idempotency: 'keyed',
    keyFrom: '/key',
    scopes: [{ resource: 'project', action: 'write' }],
    capabilities: { fs: { read: ['project'], write: ['project'] } },
    needs: ['files'],
    input: { type: 'object', properties: { key: { type: 'string' } }, required: ['key'] },
    plan: async (_, context) => ({
      operations: [{ kind: 'fs.write', path: join(context.project, 'k.txt') }],
      planned: null,
    }),
    async run({ key }, { files, project: folder }) {
      await files.write(join(folder, 'k.txt'), Buffer.from(key), { createDirs: false, expect: 'absent' })
      return 'written'
    },
  })
  const { model, asked } = modelSaying([
    { calls: [{ tool: 'demo__put', input: { key: 'k-for-all' } }] },
    { calls: [{ tool: 'demo__put', input: { key: 'k-of-mine' } }] },
    { text: 'Done.' },
  ])
  const policy = { rules: [{ effect: 'allow' as const, tools: ['demo.put', 'code.enter_worktree'] }] }
  const runtime = await open({ project, agents: { model }, policy, tools: [...tools, put] })
  const session = runtime.session()
  expect((await session.call('demo.put', { key: 'k-for-all' })).error).toBeUndefined()
  const ended = await create(session, { allowed_tools: ['demo.put'] })
  const told = toldResults(asked[2] ?? { prompt: [] })
  expect(told[0]).toContain('IDEMPOTENCY.CONFLICT')
  expect(told[1]).toContain('written')
  const kept = join(project, ended.data.worktree?.path ?? '', 'k.txt')
  expect(readFileSync(kept, 'utf8')).toBe('k-of-mine')
})

test('an agent in the background has a worktree too, which closing its session leaves for it to go on (AGENT-3, FILE-7)', async () => {
  const project = newProject()
  const options = { project, home: makeFolder(), store: { path: `${makeFolder()}/s.db` } }
  const { model, asked } = modelSaying([write('b.txt'), never, { text: 'Done.' }, { text: 'Nothing.' }])
  const before = await open({ ...options, agents: { model } })
  const begin = async (session: Session) =>
    (
      await session.turn([
        { id: 'mine', tool: 'agent.create_sub_agent', input: { ...input, ...writer, background: true } },
      ])
    ).results[0]?.data as Ended['data']
  const first = before.session({ id: 'program' })
  const { agent_id: id, worktree } = await begin(first)
  expect(worktree?.branch).toMatch(/^handrail\/agent-/)
  await expect.poll(() => asked.length).toBe(2)
  await before.close()
  expect(existsSync(join(project, worktree?.path ?? '', 'b.txt'))).toBe(true)

  const after = await open({ ...options, agents: { model } })
  const session = after.session({ id: 'program' })
  expect(await begin(session)).toMatchObject({ agent_id: id, worktree })
  const ended = await session.call('job.output', { id, wait_ms: 60_000 })
  expect(ended.data).toMatchObject({ job: { state: 'completed' }, text: 'Done.\n' })
  expect(JSON.stringify(ended.content)).toContain(`What it changed is in the worktree ${worktree?.path}`)
  const seen = await session.call('agent.inspect_agent', { agent_id: id })
  expect(seen.data).toMatchObject({ status: 'ended', worktree })
  // One that changes nothing leaves nothing, also in the background.
  const other = await session.call('agent.create_sub_agent', { ...input, background: true })
  const { agent_id } = other.data as { agent_id: string }
  await session.call('job.output', { id: agent_id, wait_ms: 60_000 })
  expect(worktreesOf(project)).toBe(2)
})

test('agents that start beside each other have a worktree each (AGENT-2, SCHED-2)', async () => {
  const project = newProject()
  const { model } = modelSaying([
    {
      calls: [0, 1, 2].map((at) => ({
        id: `c${at}`,
        tool: 'agent__create_sub_agent',
        input: { ...input, ...writer },
      })),
    },
    ...Array.from(
      { length: 6 },
      (_, at) => (asked: ModelAsked) =>
        asked.prompt.some(({ role }) => role === 'tool') ? { text: 'Written.' } : write('a.txt', `${at}\n`),
    ),
    { text: 'Done.' },
  ])
  const runtime = await open({ project })
  expect(await (await runtime.run({ model, prompt: 'Go.' })).result).toMatchObject({ text: 'Done.' })
  expect(worktreesOf(project)).toBe(4)
  expect(readFileSync(join(project, 'a.txt'), 'utf8')).toBe('alpha\n')
})

test('a policy that is reloaded holds for the agents that are in worktrees (AGENT-2, PERM-4)', async () => {
  const project = newProject()
  const { model, asked } = modelSaying([
    write('one.txt'),
    async () => {
      await runtime.reload({ policy: { rules: [{ effect: 'deny', tools: ['code.write_file'] }] } })
      return write('two.txt')
    },
    { text: 'Done.' },
  ])
  const runtime = await open({ project, agents: { model } })
  const ended = await create(runtime.session())
  const folder = join(project, ended.data.worktree?.path ?? '')
  expect(existsSync(join(folder, 'one.txt'))).toBe(true)
  expect(existsSync(join(folder, 'two.txt'))).toBe(false)
  expect(toldResults(asked[2] ?? { prompt: [] })[1]).toMatch(/tool_not_available|rule_denied/)
})

test('a recorded call of an agent in a worktree is explained as far as it can be (AGENT-2)', async () => {
  const project = newProject()
  const { model } = modelSaying([write('b.txt'), { text: 'Done.' }])
  const options = { project, tools, policy: allowed, sandbox: 'host' as const }
  const runtime = await open({ ...options, agents: { model } })
  await create(runtime.session())
  const begins = [...runtime.store.records({ tenant: 'local', kind: 'begin' })].map(
    ({ text }) => JSON.parse(text) as { call: string; tool: string },
  )
  const { call = '' } = begins.find(({ tool }) => tool === 'code.write_file') ?? {}
  const found = await explainCall({ store: runtime.store, call, runtime: options })
  expect(found?.begin).toMatchObject({ decision: { effect: 'allow' } })
  expect(found?.now).toMatchObject({ obstacle: expect.stringContaining('held to the worktree') as string })
})

function never({ abortSignal }: ModelAsked): Promise<Said> {
  return new Promise((_, reject) =>
    abortSignal?.addEventListener('abort', () => reject(abortSignal.reason as Error)),
  )
}

test.runIf(process.getuid?.() === 0)(
  'where the user of the sandbox may not write in the project, a worktree is refused before anybody is asked, with what to do (AGENT-2, BI-6)',
  async () => {
    const project = mkdtempSync(join(tmpdir(), 'handrail-test-'))
    atEnd(() => rmSync(project, { recursive: true, force: true }))
    writeFileSync(join(project, 'a.txt'), 'alpha\n')
    makeRepository(project)
    chmodSync(project, 0o755)
    const person = personSaying('allow_once')
    const { model } = modelSaying([{ text: 'Done.' }])
    const options = {
      project,
      agents: { model },
      policy: {},
      sandbox: 'bubblewrap',
      approve: person.approve,
    } as const
    const session = (await open(options)).session()
    const { error } = await create(session)
    expect(error).toMatchObject({ reason: 'no_isolation', data: { because: 'permission_denied' } })
    expect(error?.message).toContain(
      'Commands run as nobody, who may not write in ".git", so git can make no worktree there. The operator gives the folder of the project to that user with "chown -R nobody", or names one who may',
    )
    expect(person.asked).toEqual([])
    expect(branchesOf(project)).toBe('main')
    giveAway(project)
    expect((await create(session)).error).toBeUndefined()
  },
)
