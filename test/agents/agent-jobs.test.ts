import {
  codeTools,
  jobTools,
  type RuntimeEvent,
  type RuntimeOptions,
  type Session,
  type TurnResult,
} from 'handrail'
import { createAgentDefinitionRegistry, delegationTools, type AgentDefinition } from 'handrail/agents'
import { expect, test } from 'vitest'
import { modelSaying, toldResults, type ModelAsked, type Said } from '../support/mock-model.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

const tools = [codeTools(), delegationTools(), jobTools()]

const open = (options: RuntimeOptions = {}) =>
  openRuntime({ project: makeFolder({ 'a.txt': 'alpha\n' }), tools, sandbox: 'host', ...options })

type Data = { readonly [field: string]: unknown }

/** Starts an agent in the background, and returns its id. */
async function start(session: Session, input: Data = {}): Promise<string> {
  const called = await session.call('agent.create_sub_agent', { task: 'Go.', background: true, ...input })
  expect(called.error).toBeUndefined()
  return (called.data as { agent_id: string }).agent_id
}

/** The agent that the call of a turn started. */
const agentOf = ({ results }: TurnResult): string =>
  (results[0]?.data as { agent_id: string } | undefined)?.agent_id ?? ''

const call = async (session: Session, tool: string, input: Data) =>
  (await session.call(tool, input)) as { data: Data; error?: { reason: string } }

const never = ({ abortSignal }: ModelAsked): Promise<Said> =>
  new Promise((_, reject) =>
    abortSignal?.addEventListener('abort', () => reject(abortSignal.reason as Error)),
  )

const look: Said = { text: 'I look.', calls: [{ tool: 'code__read_file', input: { path: 'a.txt' } }] }

test('a background agent is a job: listed, waited for, read in pages, ended and noted once (FILE-7, BI-3)', async () => {
  const long = `Größe ${'ü'.repeat(20_000)}`
  const { model } = modelSaying([look, { text: long }])
  const events: RuntimeEvent[] = []
  const runtime = await open({ agents: { model }, onEvent: (event) => events.push(event) })
  const session = runtime.session()
  const started = await session.call('agent.create_sub_agent', { task: 'Look at\n it.', background: true })
  const { agent_id: id } = started.data as { agent_id: string }
  let text = ''
  const first = await call(session, 'job.output', { id, wait_ms: 60_000 })
  for (let offset = 0, page = first; ; page = await call(session, 'job.output', { id, offset })) {
    expect(String(page.data['text']).length).toBeLessThanOrEqual(24 * 1024)
    text += page.data['text'] as string
    if (page.data['next_offset'] === offset) break
    offset = Number(page.data['next_offset'])
  }
  expect(text).toBe(`I look.\n${long}\n`)
  expect(JSON.stringify(first)).toMatch(/<untrusted-\w+ from=/)
  const job = { id, kind: 'agent', task: 'Look at it.', state: 'completed', bytes: Buffer.byteLength(text) }
  expect((await call(session, 'job.list', {})).data).toMatchObject({ jobs: [job] })
  expect(session.jobs()).toMatchObject([
    { id, kind: 'agent', call: started.callId, end: { how: 'completed' } },
  ])
  const notes = [...runtime.store.records({ tenant: 'local', kind: 'note' })]
    .map((record) => JSON.parse(record.text) as { event: string })
    .filter(({ event }) => !event.startsWith('run_'))
  expect(notes).toMatchObject([
    { event: 'job_ended', call: started.callId, session: session.id, data: { job: id, how: 'completed' } },
  ])
  expect(events.filter(({ type }) => type === 'job_ended')).toHaveLength(1)
  expect(runtime.runs.find(id)).toMatchObject({ state: 'ended', endReason: 'completed' })
})

test('a background agent outlives its call and its turn, and no other session sees it (FILE-7, AUTH-6)', async () => {
  const { promise: mayAnswer, resolve: letAnswer } = Promise.withResolvers<void>()
  const { model } = modelSaying([
    async () => {
      await mayAnswer
      return { text: 'Late.' }
    },
  ])
  const policy = { tenants: { local: {}, acme: {} } }
  const { approve } = personSaying('allow_once')
  const runtime = await open({ agents: { model }, policy, approve })
  const session = runtime.session({ id: 'mine' })
  const controller = new AbortController()
  const input = { task: 'Go.', background: true }
  const turn = await session.turn([{ tool: 'agent.create_sub_agent', input }], { signal: controller.signal })
  controller.abort()
  const id = agentOf(turn)
  for (const other of [
    runtime.session(),
    runtime.session({ parent: session, role: 'main' }),
    runtime.session({ actor: 'eve' }),
    runtime.session({ tenant: 'acme', id: 'mine' }),
  ]) {
    expect((await call(other, 'job.list', {})).data).toEqual({ jobs: [] })
    for (const tool of ['job.output', 'job.stop'])
      expect((await call(other, tool, { id })).error).toMatchObject({ reason: 'unknown_job' })
  }
  expect((await call(session, 'job.list', {})).data).toMatchObject({ jobs: [{ id, state: 'running' }] })
  letAnswer()
  expect((await call(session, 'job.output', { id, wait_ms: 60_000 })).data).toMatchObject({
    job: { state: 'completed' },
    text: 'Late.\n',
  })
})

const lead: AgentDefinition = {
  id: 'lead',
  description: 'Leads.',
  instructions: 'You lead.',
  role: 'orchestrator',
  tools: ['agent.*', 'job.*'],
}
const services = { agentDefinitions: createAgentDefinitionRegistry({ definitions: [lead] }) }

test('stopping an agent ends its calls, its own agents and their jobs, and says why (FILE-7, AGENT-2)', async () => {
  const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>()
  const below = modelSaying([
    (asked) => {
      ask()
      return never(asked)
    },
  ])
  const input = { task: 'Below.', model: 'below', background: true }
  const above = modelSaying([{ calls: [{ tool: 'agent__create_sub_agent', input }] }, never])
  const runtime = await open({
    agents: { model: above.model, models: { below: below.model } },
    services,
    policy: { rules: [{ effect: 'allow', tools: ['job.stop'] }] },
  })
  const session = runtime.session()
  const id = await start(session, { agent_definition_id: 'lead' })
  await isAsked
  const stopped = await call(session, 'job.stop', { id, reason: 'not needed' })
  expect(stopped.data['job']).toMatchObject({ id, state: 'stopped', reason: 'not needed' })
  expect(runtime.runs.list().map(({ state, endReason }) => [state, endReason])).toEqual([
    ['ended', 'aborted'],
    ['ended', 'aborted'],
  ])
  const again = await call(session, 'job.stop', { id, reason: 'twice' })
  expect(again.data['job']).toMatchObject({ reason: 'not needed' })
})

test('agents in the background end with their session, with its signal and at their time limit (FILE-7)', async () => {
  const { model } = modelSaying([never, never, never])
  const runtime = await open({ agents: { model } })
  const closed = runtime.session()
  const first = await start(closed)
  await closed.close()
  expect(runtime.runs.find(first)).toMatchObject({ state: 'ended', endReason: 'aborted' })
  const controller = new AbortController()
  const aborted = runtime.session({ signal: controller.signal })
  const second = await start(aborted)
  controller.abort()
  await expect.poll(() => runtime.runs.find(second)).toMatchObject({ state: 'ended', endReason: 'aborted' })
  const limited = runtime.session()
  const third = await start(limited, { timeout_ms: 1_000 })
  const ended = await call(limited, 'job.output', { id: third, wait_ms: 60_000 })
  expect(ended.data).toMatchObject({ job: { state: 'timeout' }, text: '' })
})

test('commands and agents of a session are counted together, and a refused agent leaves no run (FILE-7, SCHED-2)', async () => {
  const { model } = modelSaying(Array.from({ length: 9 }, () => never))
  const policy = { rules: [{ effect: 'allow' as const, tools: ['code.run_command'], argv: ['sleep', '**'] }] }
  const runtime = await open({ agents: { model }, policy })
  const session = runtime.session()
  for (let count = 0; count < 7; count++) await start(session)
  const command = { argv: ['sleep', '600'], background: true }
  expect((await session.call('code.run_command', command)).ok).toBe(true)
  const refused = await session.call('agent.create_sub_agent', { task: 'x', background: true })
  expect(refused.error).toMatchObject({ code: 'QUOTA.RATE_LIMITED', reason: 'concurrency' })
  expect((await session.call('code.run_command', command)).error).toMatchObject({ reason: 'concurrency' })
  expect(runtime.runs.list()).toHaveLength(7)
  expect(session.jobs().map(({ kind }) => kind)).toEqual([...Array(7).fill('agent'), 'command'])
})

test('what an agent said and was told to do is shown without secrets (FILE-7)', async () => {
  const secret = 'sw0rdfish-in-the-sea'
  const { model } = modelSaying([{ text: `The word is ${secret}.` }])
  const runtime = await open({ agents: { model }, secrets: { key: secret } })
  const session = runtime.session()
  const id = await start(session, { task: `Say ${secret}.` })
  const output = await session.call('job.output', { id, wait_ms: 60_000 })
  expect(output.data).toMatchObject({ text: 'The word is [redacted].\n', job: { task: 'Say [redacted].' } })
  expect(JSON.stringify([output, await session.call('job.list', {}), session.jobs()])).not.toContain(secret)
})

test('the compatible names of jobs reach agents too, and one that failed says why (BI-3)', async () => {
  const { model } = modelSaying([{ text: 'Half', finish: 'length' }, never])
  const runtime = await open({
    agents: { model },
    policy: { rules: [{ effect: 'allow', tools: ['job.stop'] }] },
  })
  const session = runtime.session()
  const compatible = { presentation: 'compatible' } as const
  const begin = async () => {
    const input = { description: 'x', prompt: 'Go.', run_in_background: true }
    const { data } = await session.call('Agent', input, compatible)
    return (data as { agent_id: string }).agent_id
  }
  const failed = await session.call('TaskOutput', { task_id: await begin() }, compatible)
  expect(failed.data).toMatchObject({ text: 'Half\n', job: { state: 'failed' } })
  expect(JSON.stringify(failed.data)).toContain('cut off')
  const stopped = await session.call('TaskStop', { task_id: await begin() }, compatible)
  expect(stopped.data).toMatchObject({ job: { state: 'stopped' } })
})

test('a run that goes on goes on with its agents: they are interrupted until then, and begin once more (AGENT-3, FILE-7)', async () => {
  const project = makeFolder({ 'a.txt': 'alpha\n' })
  const options = { project, home: makeFolder(), store: { path: `${project}/store.db` } }
  const main = modelSaying([
    { calls: [{ tool: 'agent__create_sub_agent', input: { task: 'Go.', model: 'slow', background: true } }] },
    never,
    { calls: [{ tool: 'job__list' }] },
    (asked) => {
      const id = /run_[0-9a-f]{24}/.exec(toldResults(asked)[0] ?? '')?.[0]
      return { calls: [{ tool: 'job__output', input: { id, wait_ms: 60_000 } }] }
    },
    { text: 'Done.' },
  ])
  const slow = modelSaying([look, never, { text: 'Found.' }])
  const agents = { models: { slow: slow.model } }
  const before = await open({ ...options, agents })
  const run = await before.run({ model: main.model, prompt: 'Begin.' })
  await expect.poll(() => slow.asked.length).toBe(2)
  await expect.poll(() => main.asked.length).toBe(2)
  await before.close()
  expect(await run.result).toMatchObject({ endReason: 'aborted' })

  const after = await open({ ...options, agents })
  const [child] = after.runs.list().filter(({ id }) => id !== run.id)
  expect(child).toMatchObject({ state: 'ended', endReason: 'aborted' })
  const resumed = await (await after.run({ model: main.model, resume: run.id })).result
  expect(resumed).toMatchObject({ endReason: 'completed', text: 'Done.' })
  const told = toldResults(main.asked[4] ?? { prompt: [] }).join('\n')
  expect(told).toContain('I look.\nFound.')
  expect(told).toContain(child?.id)
  expect(slow.asked).toHaveLength(3)
  expect(after.runs.list()).toHaveLength(2)
  expect(after.runs.find(child?.id ?? '')).toMatchObject({ endReason: 'completed', turns: 2 })
})

test('an agent of a program that was interrupted is told as that, and goes on when its call is made again (AGENT-3, FILE-7)', async () => {
  const project = makeFolder({ 'a.txt': 'alpha\n' })
  const options = { project, home: makeFolder(), store: { path: `${project}/store.db` } }
  const { model } = modelSaying([look, never, { text: 'Found.' }])
  const begin = (session: Session) =>
    session.turn([{ id: 'mine', tool: 'agent.create_sub_agent', input: { task: 'Go.', background: true } }])
  const before = await open({ ...options, agents: { model } })
  const first = await begin(before.session({ id: 'program' }))
  const id = agentOf(first)
  await expect.poll(() => before.runs.transcript(id).length).toBe(3)
  await before.close()

  const after = await open({ ...options, agents: { model } })
  const session = after.session({ id: 'program' })
  expect((await call(session, 'job.output', { id, wait_ms: 60_000 })).data).toMatchObject({
    job: { id, state: 'interrupted', reason: 'the runtime was closed' },
    text: 'I look.\n',
  })
  const second = await begin(session)
  expect(second.results[0]?.data).toMatchObject({ agent_id: id, status: 'running' })
  expect((await call(session, 'job.output', { id, wait_ms: 60_000 })).data).toMatchObject({
    job: { id, state: 'completed' },
    text: 'I look.\nFound.\n',
  })
  expect((await call(session, 'job.list', {})).data['jobs']).toHaveLength(1)
})
