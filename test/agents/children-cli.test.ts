import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { createRuntime } from 'handrail'
import { expect, test } from 'vitest'
import { atEnd } from '../support/at-end.ts'
import { handrail, makePlace } from '../support/command-line.ts'
import { startModelServer, type Answer } from '../support/model-server.ts'
import { listRuns, modelAt, modelEnv, runModel } from '../support/run-model.ts'
import { toOwnServer } from '../support/serve-stdio.ts'

const place = (own: { [file: string]: unknown } = {}) =>
  makePlace({ 'a.txt': 'alpha\n' }, { 'config.json': { toolGroups: ['agent', 'task'] }, ...own })
const start = (id: string, task: string): Answer => ({
  calls: [{ id, tool: 'agent.create_sub_agent', input: { task, allowed_tools: ['code.*'] } }],
})
const write: Answer = { calls: [{ tool: 'code.write_file', input: { path: 'b.txt', content: 'new\n' } }] }

test('runs are listed as they started, agents with who started them, and the last one is what the person started (AGENT-2, AGENT-3)', async () => {
  const of = place()
  const children = ['one', 'two', 'three'].flatMap((task) => [start(task, task), { text: 'Done.' }])
  await runModel(of, [...children, { text: 'All is done.' }], { argv: ['first'] })
  await runModel(of, [start('a', 'write it'), write], { argv: ['second'] })

  const runs = await listRuns(of)
  expect(runs).toHaveLength(6)
  const times = runs.map(({ startedAt }) => startedAt)
  expect(times).toEqual(times.toSorted((one, other) => other - one))
  const [child, second, ...before] = runs
  expect(child?.parent?.run).toBe(second?.id)
  expect(before.at(-1)?.parent).toBeUndefined()
  const { stdout } = await handrail(of, ['runs'])
  expect(stdout.match(/started by run_\w+/g)).toHaveLength(4)
  const shown = await handrail(of, ['runs', 'show', child?.id ?? ''])
  expect(shown.stdout).toContain(` by ${second?.id ?? ''}, call `)
  expect(shown.stdout).not.toContain('"type":"custom"')

  // The agent waits, and the run that the person started waits for it.
  expect((await handrail(of, ['approvals', 'allow', 'last', '--yes'])).code).toBe(0)
  const server = await startModelServer([{ text: 'b is there.' }, { text: 'It is written.' }])
  const again = await handrail(of, ['run', '--resume', 'last', ...modelAt(server.url)], { env: modelEnv })
  expect([again.code, again.stdout]).toEqual([0, 'It is written.\n'])
  expect(existsSync(join(of.project, 'b.txt'))).toBe(true)
})

test('agents that a client starts at handrail serve have the pools of config.json, and cost what prices.json says (BI-2, AUTH-4)', async () => {
  const server = await startModelServer([{ text: 'Done.' }, { text: 'Done again.' }])
  const of = place({
    'config.json': {
      toolGroups: ['agent', 'task'],
      workerPools: { builders: { size: 2, description: 'B.' } },
    },
    'policy.json': { budgets: [{ id: 'purse', unit: 'money', limit: 1 }] },
    'prices.json': { 'anthropic/test-model': { input: 10_000, output: 1_000 } },
  })
  const client = new Client({ name: 'client', version: '1' })
  await client.connect(toOwnServer(of, { options: modelAt(server.url), env: modelEnv }))
  atEnd(() => client.close())
  const call = async (name: string, input: object = {}): Promise<string> =>
    JSON.stringify(await client.callTool({ name, arguments: { ...input } }))
  expect(await call('agent.list_workers')).toContain('builders')
  // 120 tokens read and 10 written cost more than all that there is.
  expect(await call('agent.create_sub_agent', { task: 'Go.' })).toContain('Done.')
  expect(await call('agent.create_sub_agent', { task: 'Again.' })).toContain('budget_exceeded')
  expect(server.asked).toHaveLength(1)
})

const startOn = (model: string, task: string): Answer => ({
  calls: [{ id: task, tool: 'agent.create_sub_agent', input: { task, model, allowed_tools: ['code.*'] } }],
})
/** A place whose configuration names a model at a server of its own. */
async function withFastModel(answers: readonly Answer[]) {
  const fast = await startModelServer(answers)
  const agents = { models: { fast: { model: 'anthropic/fast-model', baseUrl: fast.url } } }
  const of = place({ 'config.json': { toolGroups: ['agent', 'schedule'], agents } })
  return { of, fast }
}

test('a call of handrail run names a model of config.json, which its agent works with, also after a restart (AGENT-2, BI-2)', async () => {
  const { of, fast } = await withFastModel([write, { text: 'b is there.' }])
  const waiting = await runModel(of, [startOn('fast', 'write it')], { argv: ['go'] })
  expect(waiting.code).toBe(4)
  expect(fast.asked.map(({ body }) => body['model'])).toEqual(['fast-model'])

  expect((await handrail(of, ['approvals', 'allow', 'last', '--yes'])).code).toBe(0)
  const server = await startModelServer([{ text: 'It is written.' }])
  const again = await handrail(of, ['run', '--resume', 'last', ...modelAt(server.url)], { env: modelEnv })
  expect([again.code, again.stdout]).toEqual([0, 'It is written.\n'])
  expect([fast.asked.length, server.asked.length]).toEqual([2, 1])

  // A command that loads no model decides by the same policy.
  await handrail(of, ['call', 'code.read_file', '{"path":"a.txt"}'])
  const { stdout } = await handrail(of, ['evidence', 'export'])
  const policies = [...stdout.matchAll(/\\"policy\\":\\"([\w-]+)/g)].map(([, policy]) => policy)
  expect(policies.length).toBeGreaterThan(3)
  expect(new Set(policies).size).toBe(1)

  const unknown = await runModel(of, [startOn('slow', 'again'), { text: 'No such model.' }], { argv: ['go'] })
  expect(JSON.stringify(unknown.asked[1]?.body)).toContain('The model \\"slow\\" is not known here')
})

test('clients of handrail serve and schedules that are run name the models of config.json (AGENT-2, BI-5)', async () => {
  const { of, fast } = await withFastModel([{ text: 'Done.' }, { text: 'Swept.' }])
  const client = new Client({ name: 'client', version: '1' })
  await client.connect(toOwnServer(of, { env: modelEnv }))
  atEnd(() => client.close())
  const called = await client.callTool({
    name: 'agent.create_sub_agent',
    arguments: { task: 'Go.', model: 'fast' },
  })
  expect(JSON.stringify(called)).toContain('Done.')

  const server = await startModelServer([startOn('fast', 'sweep'), { text: 'All is swept.' }])
  const input = { name: 'sweep', schedule: '0 9 1 1 *', prompt: 'Sweep.' }
  const rules = [{ effect: 'allow', tools: ['cron.*'] }]
  writeFileSync(join(of.home, 'policy.json'), JSON.stringify({ rules }))
  expect((await handrail(of, ['call', 'cron.create', JSON.stringify(input)])).code).toBe(0)
  const listed = await handrail(of, ['schedules', '--json'])
  const [{ id } = { id: '' }] = JSON.parse(listed.stdout) as { id: string }[]
  const ran = await handrail(of, ['schedules', 'run', id, ...modelAt(server.url)], { env: modelEnv })
  expect(ran.code).toBe(0)
  expect(fast.asked.map(({ body }) => body['model'])).toEqual(['fast-model', 'fast-model'])
})

test.each([
  ['a name of no model', { fast: 'gpt' }, '/agents/models/fast: It names no model'],
  ['a faulty URL', { fast: { model: 'openai/a', baseUrl: 'x' } }, '/agents/models/fast/baseUrl: It is "x"'],
  ['a missing name', { fast: {} }, /\/agents\/models\/fast.*model/s],
])('in config.json %s is refused with its place by every command (AGENT-2)', async (_title, models, says) => {
  const { code, stderr } = await handrail(place({ 'config.json': { agents: { models } } }), ['tools'])
  expect([code, stderr]).toEqual([
    2,
    typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says),
  ])
})

test('a model of config.json that cannot be loaded ends a run before it asks or writes anything, and no other command (AGENT-2)', async () => {
  const of = place({ 'config.json': { agents: { models: { fast: 'nobody:fast' } } } })
  const { code, stderr, asked } = await runModel(of, [{ text: 'x' }], { argv: ['go'] })
  expect([code, asked]).toEqual([2, []])
  expect(stderr).toContain('"fast" of "agents.models": The package "nobody" of the model is not installed')
  expect(existsSync(join(of.home, 'store.db'))).toBe(false)
  expect((await handrail(of, ['tools'])).code).toBe(0)
})

test('the end of a run says which agents and commands it interrupts, and how they go on (AGENT-3, FILE-7)', async () => {
  const { of, fast } = await withFastModel([{ text: 'I begin.', hangs: true }, { text: 'It is swept.' }])
  const sweep = { task: 'Sweep\n the floor.', model: 'fast', background: true }
  const calls: Answer = {
    calls: [
      { id: 'a', tool: 'agent.create_sub_agent', input: sweep },
      { id: 'b', tool: 'code.run_command', input: { argv: ['sleep', '600'], background: true } },
    ],
  }
  const argv = ['go', '--approve', 'once']
  const first = await runModel(of, [calls, { text: 'They work.' }], { argv })
  expect([first.code, first.stdout]).toEqual([0, 'They work.\n'])
  const [agent, run] = await listRuns(of)
  expect(first.stderr).toContain(
    `handrail: the end of the run interrupts the agent ${agent?.id} (Sweep the floor.); it goes on when the run does\n`,
  )
  expect(first.stderr).toMatch(/interrupts the command job_\w+ \(sleep 600\)\n/)
  expect(first.stderr).toContain(`Go on: handrail run --resume ${run?.id} "<what comes next>"\n`)

  const wait: Answer = { calls: [{ tool: 'job.output', input: { id: agent?.id, wait_ms: 60_000 } }] }
  const again = await runModel(of, [wait, { text: 'All is done.' }], {
    argv: ['and now?', '--resume', run?.id ?? '', '--json'],
  })
  expect(fast.asked).toHaveLength(2)
  const last = JSON.parse(again.stdout.trimEnd().split('\n').at(-1) ?? '') as { result: object }
  expect(last.result).toMatchObject({ endReason: 'completed' })
  expect(last.result).not.toHaveProperty('atWork')
})

test('as JSON the end of a run names what it interrupts (AGENT-3)', async () => {
  const { of } = await withFastModel([{ text: 'I begin.', hangs: true }])
  const sweep = { task: 'Sweep.', model: 'fast', background: true }
  const calls: Answer = { calls: [{ tool: 'agent.create_sub_agent', input: sweep }] }
  const { stdout } = await runModel(of, [calls, { text: 'It works.' }], { argv: ['go', '--json'] })
  const [agent] = await listRuns(of)
  expect(JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
    type: 'run_ended',
    result: { atWork: [{ id: agent?.id, kind: 'agent', title: 'Sweep.' }] },
  })
})

test('runs of a version that kept no list of them are listed behind those of now (AGENT-3)', async () => {
  const of = place()
  for (const task of ['one', 'two']) await runModel(of, [{ text: 'Done.' }], { argv: [task] })
  const [two, one] = await listRuns(of)
  const runtime = await createRuntime({ project: of.project, home: of.user, store: { path: of.store } })
  const tenant = 'local'
  const { store } = runtime
  const starts = store.documents({ tenant, kind: 'run_start' })
  await store.append([], { documents: starts.map((each) => ({ ...each, tenant, value: undefined })) })
  await runtime.close()
  await runModel(of, [{ text: 'Done.' }], { argv: ['three'] })

  const [three, ...before] = await listRuns(of)
  expect(before).toEqual([two, one])
  const limited = await handrail(of, ['runs', '--limit', '2', '--json'])
  expect(JSON.parse(limited.stdout)).toEqual([three, two])
  expect((await handrail(of, ['runs', 'show', one?.id ?? ''])).stdout).toContain('one')
})
