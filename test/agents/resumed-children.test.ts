import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeTools, jobTools, type RuntimeOptions, type Session } from 'handrail'
import { createAgentDefinitionRegistry, delegationTools, type AgentDefinition } from 'handrail/agents'
import { planTools } from 'handrail/tools'
import { expect, test } from 'vitest'
import { modelSaying, toldResults, type ModelAsked, type Said } from '../support/mock-model.ts'
import { giveAway, makeFolder, openRuntime, personSaying } from '../support/project.ts'
import { makeRepository } from '../support/repository.ts'

const tools = [codeTools(), delegationTools(), jobTools(), planTools()]

const open = (options: RuntimeOptions = {}) =>
  openRuntime({ project: makeFolder({ 'a.txt': 'alpha\n' }), tools, sandbox: 'host', ...options })

interface Ended {
  readonly callId: string
  readonly error?: { readonly reason: string; readonly message: string }
  readonly data: { readonly agent_id: string; readonly [field: string]: unknown }
}
const create = async (session: Session, input: object, id?: string) =>
  (await session.call(
    'agent.create_sub_agent',
    { ...input },
    id === undefined ? {} : { id },
  )) as unknown as Ended

const textsOf = (asked: ModelAsked | undefined): string => JSON.stringify(asked?.prompt)
const count = (text: string, part: string): number => text.split(part).length - 1
const read: Said = { calls: [{ tool: 'code__read_file', input: { path: 'a.txt' } }] }
const write: Said = { calls: [{ tool: 'code__write_file', input: { path: 'b.txt', content: 'new\n' } }] }
const writer = { allowed_tools: ['code.write_file', 'code.read_file'] }

test('an agent that ended goes on with its conversation, in a run of Handrail by either name (AGENT-2, BI-2)', async () => {
  for (const presentation of ['canonical', 'compatible'] as const) {
    const runtime = await open()
    let agent = ''
    const first = { description: 'Read it', prompt: 'Read a.txt.', task: 'Read a.txt.' }
    const say = ({ description, prompt, task }: typeof first, more: object = {}): Said => ({
      calls: [
        presentation === 'canonical'
          ? { tool: 'agent__create_sub_agent', input: { task, ...more } }
          : { tool: 'Agent', input: { description, prompt, ...more } },
      ],
    })
    const { model, asked } = modelSaying([
      say(first),
      presentation === 'canonical' ? read : { calls: [{ tool: 'Read', input: { file_path: 'a.txt' } }] },
      { text: 'It says alpha.' },
      () => {
        agent = runtime.runs.list().find(({ parent }) => parent !== undefined)?.id ?? ''
        return say({ ...first, prompt: 'In capitals.', task: 'In capitals.' }, { resume: agent })
      },
      { text: 'ALPHA' },
      { text: 'Done.' },
    ])
    const run = await runtime.run({ model, prompt: 'Go.', presentation })
    expect(await run.result).toMatchObject({ endReason: 'completed', text: 'Done.' })
    const resumed = textsOf(asked[4])
    for (const said of ['Read a.txt.', 'alpha', 'It says alpha.', 'In capitals.'])
      expect(resumed).toContain(said)
    expect(toldResults(asked[5] ?? { prompt: [] })[1]).toContain('ALPHA')
    expect(runtime.runs.list()).toHaveLength(2)
    expect(runtime.runs.find(agent)).toMatchObject({ state: 'ended', endReason: 'completed', turns: 3 })
    const begins = [...runtime.store.records({ tenant: 'local', kind: 'begin' })].map(({ text }) => text)
    expect(begins.filter((text) => text.includes('"agent.create_sub_agent"'))).toHaveLength(2)
  }
})

test('an agent that used up its turns, or was stopped, goes on; which one that was not started here does not (AGENT-2, AUTH-6)', async () => {
  const { model, asked } = modelSaying([read, read, { text: 'Alpha.' }])
  const runtime = await open({ agents: { model } })
  const session = runtime.session()
  const cut = await create(session, { task: 'Read it.', max_turns: 1 })
  expect(cut.error).toMatchObject({ reason: 'agent_unfinished' })
  const [{ id } = { id: '' }] = runtime.runs.list()
  const stranger = await create(runtime.session(), { task: 'More.', resume: id })
  expect(stranger.error).toMatchObject({ reason: 'unknown_agent' })
  const again = await create(session, { task: 'More.', resume: id, max_turns: 5 })
  expect(again.data).toMatchObject({ agent_id: id, text: 'Alpha.', turns: 3 })
  expect(count(textsOf(asked[2]), 'More.')).toBe(1)
})

test('an agent that goes on stays what it was, and what would change that is refused (AGENT-1, AGENT-2)', async () => {
  const definition: AgentDefinition = { id: 'reader', description: 'R.', instructions: 'Read only.' }
  const { model, asked } = modelSaying([{ text: 'One.' }, { text: 'Two.' }])
  const agentDefinitions = createAgentDefinitionRegistry({ definitions: [definition], projectFiles: false })
  const runtime = await open({ agents: { model }, services: { agentDefinitions } })
  const session = runtime.session()
  const { data } = await create(session, { task: 'Go.', agent_definition_id: 'reader' })
  const resume = data.agent_id
  for (const more of [{ allowed_tools: ['*'] }, { isolation: 'worktree' }, { mode: 'plan' }]) {
    const { error } = await create(session, { task: 'On.', resume, ...more })
    expect(error).toMatchObject({ reason: 'invalid_input' })
    expect(error?.message).toContain(`"${Object.keys(more)[0]}"`)
  }
  const plain = await create(session, { task: 'On.', resume: 'run_none' })
  expect(plain.error).toMatchObject({ reason: 'unknown_agent' })
  const again = await create(session, { task: 'On.', resume, agent_definition_id: 'reader' })
  expect(again.data).toMatchObject({ agent_id: resume, agent_definition_id: 'reader', text: 'Two.' })
  expect(textsOf(asked[1])).toContain('Read only.')
})

test('what an agent that goes on may do is decided as of now: by a narrower policy, and by plan mode of the session (AGENT-2, PERM-3)', async () => {
  const policy = { rules: [{ effect: 'allow' as const, tools: ['code.write_file'] }] }
  const { model, asked } = modelSaying([
    { text: 'Ready.' },
    write,
    { text: 'No.' },
    write,
    { text: 'Neither.' },
  ])
  const runtime = await open({ agents: { model }, policy })
  const session = runtime.session()
  const { data } = await create(session, { task: 'Wait.', ...writer })
  const resume = data.agent_id
  await runtime.reload({ policy: { rules: [{ effect: 'deny', tools: ['code.write_file'] }] } })
  await create(session, { task: 'Write.', resume })
  expect(toldResults(asked[2] ?? { prompt: [] })[0]).toMatch(/denied/i)
  await runtime.reload({ policy })
  await session.call('plan.enter')
  await create(session, { task: 'Write now.', resume })
  expect(toldResults(asked[4] ?? { prompt: [] }).at(-1)).toMatch(/mode_denied|tool_not_available/)
  expect(existsSync(join(runtime.project, 'b.txt'))).toBe(false)
})

test('an agent that goes on and waits for a person is told its task once, also after the answer (AGENT-2, PERM-5)', async () => {
  const runtime = await open()
  let agent = ''
  const { model, asked } = modelSaying([
    { calls: [{ tool: 'agent__create_sub_agent', input: { task: 'Wait.', ...writer } }] },
    { text: 'Ready.' },
    () => {
      agent = runtime.runs.list().find(({ parent }) => parent !== undefined)?.id ?? ''
      return { calls: [{ tool: 'agent__create_sub_agent', input: { task: 'Write b.', resume: agent } }] }
    },
    write,
    { text: 'Written.' },
    { text: 'Done.' },
  ])
  const first = await (await runtime.run({ model, prompt: 'Go.' })).result
  expect(first).toMatchObject({ endReason: 'approval_pending' })
  // Meanwhile no other call goes on with it.
  for (const { id } of runtime.approvals.list())
    await runtime.approvals.decide(id, { decision: 'allow_once', by: 'ann' })
  const last = await (await runtime.run({ model, resume: first.id })).result
  expect(last).toMatchObject({ endReason: 'completed', text: 'Done.' })
  expect(count(textsOf(asked[4]), 'Write b.')).toBe(1)
  expect(readFileSync(join(runtime.project, 'b.txt'), 'utf8')).toBe('new\n')
})

test('an agent whose calls wait for a person, or that is at work, takes no other task (AGENT-2)', async () => {
  const { promise: mayAnswer, resolve: letAnswer } = Promise.withResolvers<void>()
  const { model } = modelSaying([
    async () => {
      await mayAnswer
      return write
    },
  ])
  const policy = { rules: [{ effect: 'allow' as const, tools: ['job.stop'] }] }
  const runtime = await open({ agents: { model }, policy })
  const session = runtime.session()
  const started = await create(session, { task: 'Write.', background: true, ...writer })
  const resume = started.data.agent_id
  expect((await create(session, { task: 'More.', resume })).error).toMatchObject({ reason: 'agent_running' })
  letAnswer()
  await expect.poll(() => runtime.approvals.list().length).toBe(1)
  expect((await session.call('job.stop', { id: resume })).error).toBeUndefined()
  expect((await create(session, { task: 'More.', resume })).error).toMatchObject({ reason: 'agent_waits' })
})

test('of two calls of one answer that go on with one agent, one does and the other is told so (AGENT-2, CONC-1)', async () => {
  const { model } = modelSaying([{ text: 'One.' }, { text: 'Two.' }])
  const runtime = await open({ agents: { model } })
  const session = runtime.session()
  const resume = (await create(session, { task: 'Go.' })).data.agent_id
  const input = { task: 'On.', resume }
  const { results } = await session.turn([
    { tool: 'agent.create_sub_agent', input },
    { tool: 'agent.create_sub_agent', input },
  ])
  expect(results.map(({ error }) => error?.reason)).toEqual([undefined, 'agent_running'])
})

test('an agent goes on in the background, as a job that ends anew, and reads messages of its team again (AGENT-2, BI-3)', async () => {
  const { promise: mayAnswer, resolve: letAnswer } = Promise.withResolvers<void>()
  const { model, asked } = modelSaying([
    { text: 'One.' },
    async () => {
      await mayAnswer
      return { text: 'Two.' }
    },
    { text: 'Three.' },
  ])
  const runtime = await open({ agents: { model } })
  const session = runtime.session()
  await session.call('agent.create_team', { name: 'crew' })
  const place = { team_id: 'crew', name: 'al' }
  const { data } = await create(session, { task: 'Go.', background: true, ...place })
  const id = data.agent_id
  await session.call('job.output', { id, wait_ms: 60_000 })
  const deaf = await session.call('agent.send_message', { to: 'al', message: 'Hear me.' })
  expect(deaf.error).toMatchObject({ reason: 'agent_ended' })
  await create(session, { task: 'On.', resume: id, background: true, ...place })
  expect((await session.call('agent.send_message', { to: 'al', message: 'Hear me.' })).ok).toBe(true)
  letAnswer()
  await session.call('job.output', { id, wait_ms: 60_000 })
  expect(session.jobs()).toMatchObject([{ id, end: { how: 'completed' } }])
  expect(asked.map((each) => textsOf(each)).join('')).toContain('Hear me.')
  expect(runtime.runs.find(id)).toMatchObject({ endReason: 'completed' })
})

test('an agent in a worktree goes on in it, and finds what it changed (AGENT-2, BI-6)', async () => {
  const project = makeFolder({ 'a.txt': 'alpha\n' })
  makeRepository(project)
  giveAway(project)
  const readOwn: Said = { calls: [{ tool: 'code__read_file', input: { path: 'b.txt' } }] }
  const { model, asked } = modelSaying([write, { text: 'Written.' }, readOwn, { text: 'Read.' }])
  const { approve } = personSaying('allow_once')
  const runtime = await open({ project, agents: { model }, approve })
  const session = runtime.session()
  const first = await create(session, { task: 'Write.', isolation: 'worktree', ...writer })
  const again = await create(session, { task: 'Read.', resume: first.data.agent_id })
  expect(again.data).toMatchObject({ text: 'Read.', worktree: first.data['worktree'] })
  expect(toldResults(asked[3] ?? { prompt: [] }).at(-1)).toContain('new')
  expect(existsSync(join(project, 'b.txt'))).toBe(false)
})
