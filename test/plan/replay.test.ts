import { planTools } from 'handrail/tools'
import { replayRun } from 'handrail/replay'
import { expect, test } from 'vitest'
import { makeShop, makeStore, openShop } from '../support/shop.ts'

const tools = [...makeShop().tools, planTools()]
const approve = async () => ({ decision: 'allow_once' as const })

test('a run that planned goes again as it went: in plan mode, and out of it (BI-4, EVID-3)', async () => {
  const { runtime } = await openShop(makeStore(), { tools, approve })
  const session = runtime.session()
  await session.call('plan.exit', { plan: 'Too early.' })
  await session.call('plan.enter')
  await session.call('plan.enter')
  await session.call('shop.refund', { order: '1' })
  await session.call('plan.todo_write', { todos: [{ content: 'x', status: 'pending' }] })
  await session.call('plan.exit', { plan: 'Refund it.' })
  await session.call('shop.refund', { order: '1' })
  await session.close()
  const options = { tools, project: runtime.project }
  const { calls, replayed, skipped, divergence } = await replayRun({
    store: runtime.store,
    session: session.id,
    runtime: options,
  })
  expect({ calls, replayed, skipped, divergence }).toEqual({
    calls: 7,
    replayed: 7,
    skipped: [],
    divergence: undefined,
  })
})

test('what a session above entered is not part of the run of a child, and its calls are skipped (EVID-3)', async () => {
  const { runtime } = await openShop(makeStore(), { tools, approve })
  const parent = runtime.session()
  const child = runtime.session({ parent, role: 'orchestrator' })
  await child.call('shop.look', { order: '1' })
  await parent.call('plan.enter')
  await child.call('shop.look', { order: '1' })
  await parent.call('plan.exit', { plan: 'x' })
  await child.call('shop.look', { order: '1' })
  await parent.close()
  const replay = await replayRun({
    store: runtime.store,
    session: child.id,
    runtime: { tools, project: runtime.project },
  })
  expect(replay).toMatchObject({
    calls: 3,
    replayed: 2,
    skipped: [{ reason: 'the session was in mode "plan" then, which no call of this run made it' }],
  })
  expect(replay.divergence).toBeUndefined()
})
