import { expect, test } from 'vitest'
import { handrail, makePlace } from '../support/command-line.ts'
import { startModelServer } from '../support/model-server.ts'
import { modelAt, modelEnv, runModel } from '../support/run-model.ts'

test('at the terminal facts are listed, taken, recalled and forgotten (BI-8)', async () => {
  const place = makePlace(
    {},
    {
      'config.json': { toolGroups: ['memory'] },
      'policy.json': { rules: [{ effect: 'allow', tools: ['internal.write_memory'] }] },
    },
  )
  for (const content of ['This project indents with tabs.', 'The build is slow.']) {
    const written = await handrail(place, ['call', 'internal.write_memory', JSON.stringify({ content })])
    expect(written).toMatchObject({ code: 0 })
  }
  const listed = await handrail(place, ['memory'])
  expect(listed.stdout).toContain('0 facts, 2 candidates')
  const ids = listed.stdout.split('\n').map((line) => line.split(' ')[0] ?? '')
  expect((await handrail(place, ['memory', 'accept', ids[0]?.slice(-8) ?? ''])).code).toBe(0)
  expect((await handrail(place, ['memory', 'reject', ids[1] ?? ''])).code).toBe(0)
  expect((await handrail(place, ['memory', 'recall', 'tabs'])).stdout).toContain('indents with tabs')
  expect((await handrail(place, ['memory', 'show', ids[0] ?? ''])).stdout).toMatch(/by +model/)
  expect((await handrail(place, ['memory'])).stdout).toContain('1 fact, 0 candidates')
  expect(await handrail(place, ['memory', 'show', 'nope'])).toMatchObject({ code: 2 })
  const recalled = await handrail(place, ['call', 'internal.recall_memory', '{"query":"tabs"}'])
  expect(recalled.stdout).toContain('This project indents with tabs.')
})

test('at the terminal "last" is the candidate that was noted last (BI-8)', async () => {
  const place = makePlace(
    {},
    {
      'config.json': { toolGroups: ['memory'] },
      'policy.json': { rules: [{ effect: 'allow', tools: ['internal.write_memory'] }] },
    },
  )
  const none = await handrail(place, ['memory', 'show', 'last'])
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('No candidate waits') })
  for (const content of ['The first of two.', 'The second of two.'])
    await handrail(place, ['call', 'internal.write_memory', JSON.stringify({ content })])
  expect((await handrail(place, ['memory', 'show', 'last'])).stdout).toContain('The second of two.')
  expect((await handrail(place, ['memory', 'accept', 'last'])).stderr).toBe('')
  expect((await handrail(place, ['memory', 'reject', 'last'])).stdout).toContain('the-first-of-two')
  expect((await handrail(place, ['memory'])).stdout).toMatch(/second[^]*1 fact, 0 candidates/)
})

test('handrail memory extract takes facts of runs with the model that it names, and says if none is named (BI-8)', async () => {
  const place = makePlace({}, { 'config.json': { toolGroups: ['memory'] } })
  const { code, stderr } = await handrail(place, ['memory', 'extract'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('--model')])
  await runModel(place, [{ text: 'Understood.' }], { argv: ['We deploy on Fridays.'] })
  const [run] = JSON.parse((await handrail(place, ['runs', '--json'])).stdout) as { id: string }[]
  const fact = { node: `${run?.id}.1`, content: 'Deploys are on Fridays.', scope: 'tenant', tags: [] }
  const server = await startModelServer([{ text: JSON.stringify({ facts: [fact], candidates: [] }) }])
  const extract = ['memory', 'extract', ...modelAt(server.url)]
  const read = await handrail(place, extract, { env: modelEnv })
  expect([read.code, read.stdout]).toEqual([0, expect.stringContaining('1 run read')])
  expect((await handrail(place, ['memory', 'recall', 'deploys'])).stdout).toContain('Deploys are on Fridays.')
  expect((await handrail(place, extract, { env: modelEnv })).stdout).toContain('0 runs read')
})

test('a memory of a program cannot be named in config.json, and a call says so (BI-8)', async () => {
  const place = makePlace({}, { 'config.json': { toolGroups: ['memory'], memory: { mode: 'external' } } })
  const called = await handrail(place, ['call', 'internal.recall_memory', 'query=x'])
  expect(called.code).not.toBe(0)
  expect(called.stderr).toMatch(/a program hands it in[^]*take "memory.mode" out of config.json/)
})
