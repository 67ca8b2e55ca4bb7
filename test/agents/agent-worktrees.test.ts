import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, jobTools, type Policy, type RuntimeOptions, type Session } from 'handrail'
import { createAgentDefinitionRegistry, delegationTools, type AgentDefinition } from 'handrail/agents'
import { planTools } from 'handrail/tools'
import { expect, test } from 'vitest'
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
