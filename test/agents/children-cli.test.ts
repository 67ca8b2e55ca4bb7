import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
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
