import { codeTools, type RuntimeOptions } from 'handrail'
import { createAgentDefinitionRegistry, delegationTools } from 'handrail/agents'
import { expect, test } from 'vitest'
import { modelSaying, toldResults, type ModelAsked, type Said } from '../support/mock-model.ts'
import { makeFolder, openRuntime, personSaying } from '../support/project.ts'

const readSecret: Said = { calls: [{ tool: 'code__read_file', input: { path: 'a.txt' } }] }
const start = (input: object): Said => ({ calls: [{ tool: 'agent__create_sub_agent', input }] })

async function open(options: RuntimeOptions = {}) {
  const project = makeFolder({ 'a.txt': 'alpha\n' })
  const tools = [codeTools(), delegationTools()]
  return openRuntime({ project, tools, sandbox: 'host', ...options })
}

const textOf = ({ prompt }: ModelAsked | undefined = { prompt: [] }) => JSON.stringify(prompt)

test('an agent starts another one, which works in a session below and answers it (AGENT-2, BI-2)', async () => {
  const runtime = await open()
  const { model, asked } = modelSaying([
    start({ task: 'Find what a.txt says.', context: 'It is short.' }),
    readSecret,
    { text: 'It says alpha.' },
    { text: 'The answer is alpha.' },
  ])
  const run = await runtime.run({ model, prompt: 'What does a.txt say?' })
  const result = await run.result
  expect(result).toMatchObject({ endReason: 'completed', text: 'The answer is alpha.', turns: 2 })
  expect(textOf(asked[1])).toContain('Find what a.txt says.')
  expect(textOf(asked[1])).not.toContain('What does a.txt say?')
  expect(toldResults(asked[3] ?? { prompt: [] })[0]).toContain('It says alpha.')
  const begins = [...runtime.store.records({ tenant: 'local', kind: 'begin' })].map(
    ({ text }) => JSON.parse(text) as { tool: string; role: string; session: string; parents?: object[] },
  )
  const read = begins.find(({ tool }) => tool === 'code.read_file')
  expect(read).toMatchObject({ role: 'sub', parents: [{ session: result.session, role: 'main' }] })
  expect(read?.session).not.toBe(result.session)
})

test('a child has the tools of its role and no others, and starts no agents (POOL-3, POOL-4)', async () => {
  const runtime = await open()
  const { model, asked } = modelSaying([
    start({ task: 'Look.' }),
    start({ task: 'Again.' }),
    { text: 'I may not.' },
    { text: 'Well.' },
  ])
  await (
    await runtime.run({ model, prompt: 'Go.' })
  ).result
  const names = asked[1]?.tools?.map(({ name }) => name) ?? []
  expect(names).toContain('code__read_file')
  expect(names.filter((name) => !name.startsWith('code__') || /write|edit|delete|run/.test(name))).toEqual([])
  expect(toldResults(asked[2] ?? { prompt: [] })[0]).toContain('tool_not_available')
})

test('what a child asks is asked of the person of its parent, with both agents (AGENT-1, PERM-4)', async () => {
  const person = personSaying('allow_once')
  const runtime = await open({ approve: person.approve })
  const { model } = modelSaying([
    start({ task: 'Write.', allowed_tools: ['code.write_file'] }),
    { calls: [{ tool: 'code__write_file', input: { path: 'b.txt', content: 'b' } }] },
    { text: 'Written.' },
    { text: 'Done.' },
  ])
  const run = await runtime.run({ model, prompt: 'Go.', wait: true })
  expect(await run.result).toMatchObject({ endReason: 'completed' })
  expect(person.asked).toHaveLength(1)
  expect(person.asked[0]).toMatchObject({
    principal: { role: 'sub', agent: { agentId: 'sub', parentAgentId: 'main', parentRunId: run.id } },
  })
})

test('a run whose child waits for a person ends, and goes on with the child after the answer (AGENT-2)', async () => {
  const runtime = await open()
  const { model, asked } = modelSaying([
    start({ task: 'Write.', allowed_tools: ['code.write_file'] }),
    { calls: [{ tool: 'code__write_file', input: { path: 'b.txt', content: 'b' } }] },
    { text: 'Written.' },
    { text: 'Done.' },
  ])
  const run = await runtime.run({ model, prompt: 'Go.' })
  const first = await run.result
  expect(first).toMatchObject({
    endReason: 'approval_pending',
    waiting: [{ request: { tool: 'code.write_file' } }],
  })
  await runtime.approvals.decide(first.waiting[0]?.id ?? '', { decision: 'allow_once', by: 'ada' })
  const second = await (await runtime.run({ model, resume: run.id })).result
  expect(second).toMatchObject({ endReason: 'completed', text: 'Done.' })
  expect(asked).toHaveLength(4)
  expect(runtime.approvals.list()).toEqual([])
})

test('an agent of a definition works as that says, with what it suggests and its parent has (AGENT-1)', async () => {
  const home = makeFolder({
    'agents/poet.md':
      '---\nname: poet\ndescription: Writes verse.\ntools: Write\n---\nYou write verse, and nothing else.',
  })
  const agentDefinitions = createAgentDefinitionRegistry({ home })
  const runtime = await open({ services: { agentDefinitions } })
  const { model, asked } = modelSaying([
    start({ task: 'A verse.', agent_definition_id: 'poet' }),
    { text: 'Roses.' },
    start({ task: 'Look.', agent_definition_id: 'Explore' }),
    { text: 'Seen.' },
    start({ task: 'x', agent_definition_id: 'nowhere' }),
    { text: 'Done.' },
  ])
  expect(await (await runtime.run({ model, prompt: 'Go.' })).result).toMatchObject({ text: 'Done.' })
  expect(asked[1]?.prompt[0]).toMatchObject({ role: 'system', content: 'You write verse, and nothing else.' })
  const toolsOf = (index: number) => asked[index]?.tools?.map(({ name }) => name) ?? []
  expect(toolsOf(1)).toEqual(expect.arrayContaining(['code__write_file', 'code__read_file']))
  expect(toolsOf(1)).not.toContain('code__run_command')
  expect(toolsOf(3)).toContain('code__read_file')
  expect(toolsOf(3)).not.toContain('code__write_file')
  const [last] = toldResults(asked[5] ?? { prompt: [] }).slice(-1)
  expect(last).toMatch(/unknown_definition.*"nowhere".*"Explore"/s)
})

test('a fork knows the conversation as it was before the answer that forks (BI-2)', async () => {
  const runtime = await open()
  const { model, asked } = modelSaying([
    readSecret,
    { text: 'I fork.', calls: [{ tool: 'agent__fork_agent', input: { task: 'Say it backwards.' } }] },
    { text: 'ahpla' },
    { text: 'Done.' },
  ])
  const run = await runtime.run({ model, prompt: 'What does a.txt say?', system: 'You are terse.' })
  expect(await run.result).toMatchObject({ endReason: 'completed' })
  const fork = asked[2]
  expect(fork?.prompt[0]).toMatchObject({ content: 'You are terse.' })
  expect(textOf(fork)).toContain('What does a.txt say?')
  expect(textOf(fork)).toContain('alpha')
  expect(textOf(fork)).toContain('Say it backwards.')
  expect(textOf(fork)).not.toContain('I fork.')
  expect(runtime.runs.transcript(run.id)).toHaveLength(6)
})

test('an agent in the background runs on, and is inspected by the session that started it alone (BI-2)', async () => {
  const { promise: mayAnswer, resolve: letAnswer } = Promise.withResolvers<void>()
  const slow = modelSaying([
    async () => {
      await mayAnswer
      return { text: 'Late.' }
    },
  ])
  const runtime = await open({ agents: { model: slow.model } })
  const session = runtime.session()
  const { data } = await session.call('agent.create_sub_agent', { task: 'x', background: true })
  const id = (data as { agent_id: string }).agent_id
  expect(data).toMatchObject({ status: 'running' })
  expect((await session.call('agent.inspect_agent', { agent_id: id })).data).toMatchObject({
    status: 'running',
  })
  const other = await runtime.session().call('agent.inspect_agent', { agent_id: id })
  expect(other.error).toMatchObject({ reason: 'unknown_agent' })
  letAnswer()
  await expect
    .poll(async () => (await session.call('agent.inspect_agent', { agent_id: id })).data)
    .toMatchObject({ status: 'ended', end_reason: 'completed', text: 'Late.' })
})

test('agents are limited: for each session, in time and in answers; who has no model is told so (SCHED-2)', async () => {
  const never = modelSaying([({ abortSignal }) => untilAborted(abortSignal)])
  const looping = modelSaying([readSecret, readSecret, readSecret])
  const runtime = await open({
    agents: { models: { never: never.model, looping: looping.model }, childrenPerSession: 2 },
  })
  const session = runtime.session()
  const end = async (input: object) => (await session.call('agent.create_sub_agent', input)).error
  expect(await end({ task: 'x' })).toMatchObject({ reason: 'no_model' })
  expect(await end({ task: 'x', model: 'other' })).toMatchObject({ reason: 'no_model' })
  const again = runtime.session()
  const ends = async (input: object) => (await again.call('agent.create_sub_agent', input)).error
  expect(await ends({ task: 'x', model: 'never', timeout_ms: 1_000 })).toMatchObject({
    reason: 'agent_unfinished',
    data: { end_reason: 'aborted' },
  })
  expect(await ends({ task: 'x', model: 'looping', max_turns: 2 })).toMatchObject({
    reason: 'agent_unfinished',
    data: { end_reason: 'max_turns' },
  })
  expect(await ends({ task: 'x', model: 'never' })).toMatchObject({
    code: 'QUOTA.BUDGET_EXCEEDED',
    reason: 'agents',
  })
})

function untilAborted(signal: AbortSignal | undefined): Promise<Said> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)))
}
