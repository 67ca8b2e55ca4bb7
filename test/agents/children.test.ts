import { codeTools, type RuntimeOptions } from 'handrail'
import { delegationTools } from 'handrail/agents'
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
