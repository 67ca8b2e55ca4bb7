import { expect, test } from 'vitest'
import { handrail, makePlace } from '../support/command-line.ts'

test('the command line has teams and workers if config.json asks for the group, with the pools of that file (BI-2)', async () => {
  const place = makePlace(
    {},
    {
      'config.json': {
        toolGroups: ['agent', 'task'],
        workerPools: { builders: { size: 2, description: 'Build things.' } },
      },
    },
  )
  const call = async (tool: string, input: object = {}) =>
    JSON.parse((await handrail(place, ['call', tool, JSON.stringify(input), '--json'])).stdout) as object
  expect(await call('agent.list_workers')).toMatchObject({
    data: { pools: [{ worker_pool_id: 'builders', description: 'Build things.', idle: 2 }] },
  })
  expect(await call('agent.create_team', { name: 'crew' })).toMatchObject({
    ok: true,
    data: { members: [{ name: 'lead' }] },
  })
  // Each call of the command line is a session of its own, and a team is that of its session.
  expect(await call('agent.send_message', { to: '*', message: 'x' })).toMatchObject({
    error: { reason: 'no_team' },
  })
  expect(await call('agent.dispatch_worker', { task_id: 'task_x', instruction: 'x' })).toMatchObject({
    error: { reason: 'unknown_task' },
  })
  const { stdout } = await handrail(place, ['tools'])
  for (const name of ['create_team', 'delete_team', 'send_message', 'list_workers', 'dispatch_worker'])
    expect(stdout).toContain(`agent.${name}`)
})

test('faulty pools are named with their places, and nothing starts (BI-2)', async () => {
  const wrong = makePlace({}, { 'config.json': { workerPools: { 'a b': { size: 1 }, few: { size: 1 } } } })
  const { code, stderr } = await handrail(wrong, ['tools'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('/workerPools/a b')])
  const none = await handrail(makePlace({}, { 'config.json': { workerPools: { few: {} } } }), ['tools'])
  expect([none.code, none.stderr]).toEqual([2, expect.stringMatching(/\/workerPools\/few.*size/s)])
})
