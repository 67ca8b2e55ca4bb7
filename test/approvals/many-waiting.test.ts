import type { CallRequest, Json, Runtime } from 'handrail'
import type { PendingApproval } from 'handrail/approvals'
import { expect, test } from 'vitest'
import { makeStore, openShop, refundOf } from '../support/shop.ts'
import { startProcessorClock } from '../support/processor-clock.ts'

/** Lets as many more wait as one that waits already, of other calls and sessions. */
async function multiply({ store }: Runtime, id: string, count: number): Promise<void> {
  const fact = store.facts('approval').find((each) => each.id === id)
  if (fact === undefined) throw new Error(`"${id}" does not wait.`)
  const text = JSON.stringify(fact.value)
  const copies = Array.from({ length: count }, (_, index) => {
    const other = `${id}${index}`
    const value = JSON.parse(text.replaceAll(id, other)) as { subject: string; request: { session: string } }
    value.subject = `${value.subject}${index}`
    value.request.session = `${value.request.session}${index % 1_000}`
    return { ...fact, id: other, value: value as unknown as Json }
  })
  await store.append([], { facts: copies })
}

async function ask(runtime: Runtime, call: CallRequest, actor = 'ann') {
  const session = runtime.session({ actor })
  const step = await session.step([call])
  const [waiting] = step.waiting
  return { session, step, id: waiting?.approval.id ?? '' }
}

test('asking, finding, listing a session, deciding and going on cost about the same with 10 and with 5,000 waiting, in each process (POOL-5, PERM-3)', async () => {
  const path = makeStore()
  const [asking, deciding] = [await openShop(path), await openShop(path)]
  const { runtime } = asking
  const seen: PendingApproval['id'][][] = []
  runtime.approvals.watch((waiting) => seen.push(waiting.map(({ id }) => id)))
  const cost = async (rounds: number, actor: string): Promise<number> => {
    const clock = startProcessorClock()
    for (let i = 0; i < rounds; i++) {
      const { session, step, id } = await ask(runtime, refundOf(`${actor}${i}`, `${actor}${i}`), actor)
      expect(runtime.approvals.list({ session: session.id })).toHaveLength(1)
      await deciding.runtime.approvals.decide(id, { decision: 'allow_once', by: 'bob' })
      expect(await session.resume(step)).toMatchObject({ results: [{ ok: true }] })
      await session.close()
    }
    return clock() / rounds
  }
  const first = await ask(runtime, refundOf('first'))
  await multiply(runtime, first.id, 9)
  await cost(30, 'warm')
  const few = await cost(30, 'few')
  await multiply(runtime, first.id, 4_999)
  // Read once.
  expect(deciding.runtime.approvals.list()).toHaveLength(5_000)
  await cost(5, 'again')
  const many = await cost(30, 'many')
  expect(many).toBeLessThan(few * 4)
  expect(asking.done.filter((order) => order.startsWith('many'))).toHaveLength(30)
  await expect.poll(() => seen.at(-1)?.length).toBe(5_000)
})

test('so many questions of one actor wait at a time, and no more; those of others, and those that were answered, are not counted (POOL-5)', async () => {
  const shop = await openShop(makeStore())
  const { runtime } = shop
  const first = await ask(runtime, refundOf('a', '1'))
  await multiply(runtime, first.id, 4_998)
  const { step, session, id } = await ask(runtime, refundOf('b', '2'))
  expect(step.waiting).toHaveLength(1)
  const over = await session.step([refundOf('c', '3')])
  expect(over).toMatchObject({
    waiting: [],
    results: [{ error: { code: 'QUOTA.RATE_LIMITED', reason: 'approvals' } }],
  })
  expect((await ask(runtime, refundOf('c', '3'), 'zoe')).step.waiting).toHaveLength(1)
  await runtime.approvals.decide(id, { decision: 'deny', by: 'bob' })
  expect((await session.step([refundOf('c', '3')])).waiting).toHaveLength(1)
  expect(shop.done).toEqual([])
})

test('questions of one actor that are large wait in smaller number: every process has them in memory (POOL-5)', async () => {
  const { runtime } = await openShop(makeStore())
  const large = 'x'.repeat(200_000)
  const first = await ask(runtime, refundOf('a', large))
  const [fact] = runtime.store.facts('approval')
  const size = JSON.stringify(fact?.value).length
  expect(size).toBeGreaterThan(large.length)
  await multiply(runtime, first.id, Math.ceil((64 * 1024 * 1024) / size) - 2)
  const { session, step } = await ask(runtime, refundOf('b', large))
  expect(step.waiting).toHaveLength(1)
  expect((await session.step([refundOf('c')])).results).toMatchObject([{ error: { reason: 'approvals' } }])
})
