import type { Runtime } from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { makeStore, openShop, refundOf } from '../support/shop.ts'

const day = 86_400_000
const start = Date.parse('2026-01-01T00:00:00Z')

/** A runtime with a clock of its own on a store where questions wait for a week. */
async function openAt(path: string, days: number) {
  const clock = { days }
  const shop = await openShop(path, {
    now: () => start + clock.days * day,
    limits: { pendingApprovalMs: 7 * day },
  })
  let asked = 0
  /** Looks for what is over for long, as asking does. */
  const askAt = async (then: number, actor: string) => {
    clock.days = then
    const session = shop.runtime.session({ actor })
    const order = `${actor}${++asked}`
    const step = await session.step([refundOf(order, order)])
    return { session, step, order, id: step.waiting[0]?.approval.id ?? '' }
  }
  return { ...shop, clock, askAt }
}

const expiriesOf = ({ store }: Runtime): string[] =>
  [...store.records({ kind: 'note' })]
    .map(({ text }) => JSON.parse(text) as { event: string; message: string; data: { approval: string } })
    .flatMap(({ event, data }) => (event === 'approval_expired' ? [data.approval] : []))

test('a clock that is days ahead takes no question from others, however often it is looked (PERM-3, PERM-5)', async () => {
  const path = makeStore()
  const right = await openAt(path, 0)
  const { session, step, order, id } = await right.askAt(0, 'ann')
  const ahead = await openAt(path, 30)
  for (const days of [30, 30.5, 32, 36.9]) await ahead.askAt(days, 'zoe')
  // There, no answer counts any more; here one does.
  expect(ahead.runtime.approvals.find(id)).toMatchObject({ state: 'expired' })
  right.clock.days = 6.9
  expect(right.runtime.approvals.find(id)).toMatchObject({ state: 'waiting' })
  await right.runtime.approvals.decide(id, { decision: 'allow_once', by: 'bob' })
  await ahead.askAt(40, 'zoe')
  expect(await session.resume(step)).toMatchObject({ results: [{ ok: true }] })
  expect(right.done).toEqual([order])
  expect(expiriesOf(right.runtime)).toEqual([])
})

test('a clock that was ahead for a while, and is put right, took no question from the same process (PERM-3)', async () => {
  const shop = await openAt(makeStore(), 0)
  const { session, step, id } = await shop.askAt(0, 'ann')
  await shop.askAt(90, 'zoe')
  await shop.askAt(1, 'zoe')
  await shop.askAt(2, 'zoe')
  expect(shop.runtime.approvals.find(id)).toMatchObject({ state: 'waiting' })
  await shop.runtime.approvals.decide(id, { decision: 'allow_once', by: 'bob' })
  expect(await session.resume(step)).toMatchObject({ results: [{ ok: true }] })
})

test('what was never answered, or never came back, is forgotten at last, with its end in the evidence (PERM-5, EVID-1)', async () => {
  const shop = await openAt(makeStore(), 0)
  const { runtime } = shop
  const silent = await shop.askAt(0, 'ann')
  const lost = await shop.askAt(0, 'ann')
  const denied = await shop.askAt(0, 'ann')
  await runtime.approvals.decide(lost.id, { decision: 'allow_once', by: 'bob' })
  await runtime.approvals.decide(denied.id, { decision: 'deny', by: 'bob' })
  await shop.askAt(7.5, 'zoe')
  expect(runtime.approvals.list({ state: 'expired' })).toMatchObject([{ id: silent.id }, { id: lost.id }])
  await shop.askAt(8.5, 'zoe')
  await shop.askAt(15, 'zoe')
  expect(runtime.approvals.find(silent.id)).toMatchObject({ state: 'expired' })
  expect(expiriesOf(runtime)).toEqual([])
  await shop.askAt(15.6, 'zoe')
  for (const { id } of [silent, lost, denied]) expect(runtime.approvals.find(id)).toBeUndefined()
  expect(expiriesOf(runtime).toSorted()).toEqual([silent.id, lost.id].toSorted())
  expect(verifyEvidence(runtime.store)).toMatchObject({ ok: true })
})
