import type { Policy, Runtime } from 'handrail'
import { verifyEvidence } from 'handrail/evidence'
import { expect, test } from 'vitest'
import { personSaying } from '../support/project.ts'
import { makeStore, openShop, refundOf } from '../support/shop.ts'

const notesOf = (runtime: Runtime): unknown[] =>
  [...runtime.store.records({ kind: 'note' })].map(
    ({ text }) => (JSON.parse(text) as { event: string }).event,
  )

test('a step runs what needs no yes, keeps what asks, and goes on in another process once that is allowed (PERM-3, PERM-5)', async () => {
  const path = makeStore()
  const asking = await openShop(path)
  const session = asking.runtime.session({ actor: 'ann' })
  const step = await session.step([refundOf('a'), { id: 'b', tool: 'shop.look', input: { order: '12' } }])
  expect(step).toMatchObject({
    endReason: 'waiting',
    results: [{ toolCallId: 'b', ok: true, data: { state: 'paid 12' } }],
    waiting: [
      {
        call: refundOf('a'),
        approval: {
          state: 'waiting',
          needed: 1,
          request: { tool: 'shop.refund', principal: { actor: 'ann' } },
        },
      },
    ],
  })
  expect(asking.done).toEqual([])
  const kept = JSON.stringify(step)
  await asking.runtime.close()

  const deciding = await openShop(path)
  const [waiting] = deciding.runtime.approvals.list()
  expect(waiting).toEqual(step.waiting[0]?.approval)
  const digest = waiting?.digest ?? ''
  const decided = await deciding.runtime.approvals.decide(waiting?.id ?? '', {
    decision: 'allow_once',
    by: 'bob',
    digest,
  })
  expect(decided).toMatchObject({ state: 'allowed', answers: [{ by: 'bob', decision: 'allow_once' }] })

  const going = await openShop(path)
  const next = await going.runtime.session({ actor: 'ann' }).resume(JSON.parse(kept))
  expect(next).toMatchObject({
    endReason: 'completed',
    waiting: [],
    results: [
      {
        toolCallId: 'a',
        ok: true,
        data: { refunded: '12' },
        metadata: { approval: { decision: 'allow_once', by: 'bob' } },
      },
      { toolCallId: 'b', ok: true },
    ],
  })
  expect(going.done).toEqual(['12'])
  const [used] = going.runtime.approvals.list({ state: 'all' })
  expect(used).toMatchObject({ id: waiting?.id, state: 'used', usedBy: next.results[0]?.callId })
  const begin = [...going.runtime.store.records({ call: used?.usedBy ?? '', kind: 'begin' })]
  expect(JSON.parse(begin[0]?.text ?? '')).toMatchObject({
    approval: { by: 'bob', id: waiting?.id, decision: 'allow_once' },
  })
  expect(notesOf(going.runtime)).toEqual(expect.arrayContaining(['approval_requested', 'approval_decided']))
  expect(verifyEvidence(going.runtime.store)).toMatchObject({ ok: true })
})

test('an answer is used once, whoever comes back with it and however often (PERM-3)', async () => {
  const path = makeStore()
  const shop = await openShop(path)
  const session = shop.runtime.session()
  const step = await session.step([refundOf('a')])
  await shop.runtime.approvals.decide(step.waiting[0]?.approval.id ?? '', {
    decision: 'allow_once',
    by: 'bob',
  })
  const others = await Promise.all([1, 2, 3].map(() => openShop(path)))
  const steps = await Promise.all([
    session.resume(step),
    ...others.map(({ runtime }) => runtime.session().resume(step)),
    session.resume(step),
  ])
  const done = [shop, ...others].flatMap((each) => each.done)
  expect(done).toEqual(['12'])
  // One has it; the others have its result, are told that it runs, or wait anew.
  expect(steps.filter(({ results }) => results.some(({ ok }) => ok)).length).toBeGreaterThan(0)
  const again = await session.resume(step)
  expect(again.results).toMatchObject([{ ok: true, data: { refunded: '12' } }])
  expect([shop, ...others].flatMap((each) => each.done)).toEqual(['12'])
})

test('a no is told to the model with its reason, once; the same call may ask anew (PERM-3, PERM-5)', async () => {
  const shop = await openShop(makeStore())
  const session = shop.runtime.session()
  const step = await session.step([refundOf('a')])
  const { id } = step.waiting[0]?.approval ?? { id: '' }
  await shop.runtime.approvals.decide(id, { decision: 'deny', by: 'bob', reason: 'ask the customer first' })
  const { results, waiting } = await session.resume(step)
  expect(waiting).toEqual([])
  expect(results).toMatchObject([
    {
      outcome: 'denied',
      error: { reason: 'denied', message: expect.stringContaining('ask the customer first') },
    },
  ])
  expect(shop.done).toEqual([])
  const again = await session.step([refundOf('z')])
  expect(again.waiting).toHaveLength(1)
  expect(again.waiting[0]?.approval.id).not.toBe(id)
})

test('the first answer wins, and the second is told so (PERM-3)', async () => {
  const path = makeStore()
  const [one, two] = [await openShop(path), await openShop(path)]
  const step = await one.runtime.session().step([refundOf('a')])
  const id = step.waiting[0]?.approval.id ?? ''
  const answers = await Promise.allSettled([
    one.runtime.approvals.decide(id, { decision: 'allow_once', by: 'bob' }),
    two.runtime.approvals.decide(id, { decision: 'deny', by: 'cleo' }),
  ])
  expect(answers.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  const rejected = answers.find(({ status }) => status === 'rejected')
  expect(rejected).toMatchObject({ reason: { code: 'approval_over' } })
  expect(one.runtime.approvals.find(id)).toEqual(two.runtime.approvals.find(id))
  expect(one.runtime.approvals.find(id)?.answers).toHaveLength(1)
})

test('what would happen differently by now is asked anew (PERM-3)', async () => {
  const path = makeStore()
  const before = await openShop(path)
  const step = await before.runtime.session().step([refundOf('a')])
  const id = step.waiting[0]?.approval.id ?? ''
  await before.runtime.approvals.decide(id, { decision: 'allow_once', by: 'bob' })
  const after = await openShop(path, { policy: { rules: [{ effect: 'ask', tools: ['shop.*'] }] } })
  const next = await after.runtime.session().resume(step)
  expect(after.done).toEqual([])
  expect(next.waiting).toHaveLength(1)
  expect(next.waiting[0]?.approval.id).not.toBe(id)
  expect(after.runtime.approvals.find(id)).toBeUndefined()
})

test('an answer for one caller, input or tenant is none for another (PERM-4, AUTH-6)', async () => {
  const policy: Policy = { tenants: { acme: {} } }
  const shop = await openShop(makeStore(), { policy })
  const step = await shop.runtime.session({ actor: 'ann' }).step([refundOf('a')])
  await shop.runtime.approvals.decide(step.waiting[0]?.approval.id ?? '', {
    decision: 'allow_once',
    by: 'bob',
  })
  const others = [
    shop.runtime.session({ actor: 'eve' }).step([refundOf('a')]),
    shop.runtime.session({ actor: 'ann', tenant: 'acme' }).step([refundOf('a')]),
    shop.runtime.session({ actor: 'ann', role: 'orchestrator' }).step([refundOf('a')]),
    shop.runtime.session({ actor: 'ann' }).step([refundOf('a', '13')]),
    shop.runtime.session({ actor: 'eve' }).resume(step),
  ]
  for (const each of await Promise.all(others)) expect(each.waiting).toHaveLength(1)
  expect(shop.done).toEqual([])
  // The one who resumes the very step gets through, in whatever session.
  const again = await shop.runtime.session({ actor: 'ann' }).resume(step)
  expect(again).toMatchObject({ waiting: [], results: [{ ok: true }] })
  expect(shop.done).toEqual(['12'])
})

test('what nobody answers in time is denied, and no answer counts after that (PERM-5)', async () => {
  let time = Date.parse('2026-01-01T00:00:00Z')
  const shop = await openShop(makeStore(), { now: () => time, limits: { pendingApprovalMs: 60_000 } })
  const session = shop.runtime.session()
  const step = await session.step([refundOf('a')])
  time += 60_000
  const { id } = step.waiting[0]?.approval ?? { id: '' }
  expect(shop.runtime.approvals.list()).toEqual([])
  expect(shop.runtime.approvals.list({ state: 'expired' })).toHaveLength(1)
  await expect(
    shop.runtime.approvals.decide(id, { decision: 'allow_once', by: 'bob' }),
  ).rejects.toMatchObject({
    code: 'approval_over',
    message: expect.stringContaining('expired'),
  })
  const next = await session.resume(step)
  expect(next.results).toMatchObject([{ outcome: 'denied', error: { reason: 'callback_timeout' } }])
  expect(shop.done).toEqual([])
})

test('a query that is misspelt is refused, as it would show what waits for others too (PERM-3, TEN-1)', async () => {
  const { runtime } = await openShop(makeStore())
  const misspelt = { tenent: 'acme', state: 'open' } as object
  expect(() => runtime.approvals.list(misspelt)).toThrow(
    expect.objectContaining({
      code: 'invalid_options',
      message: expect.stringMatching(/did you mean "tenant"[\s\S]*"open" is none of waiting/),
    }),
  )
})

test('a yes for the session holds for the session that comes back with it (PERM-4)', async () => {
  const shop = await openShop(makeStore())
  const session = shop.runtime.session()
  const step = await session.step([refundOf('a')])
  await shop.runtime.approvals.decide(step.waiting[0]?.approval.id ?? '', {
    decision: 'allow_for_session',
    by: 'bob',
  })
  await session.resume(step)
  expect(await session.step([refundOf('b')])).toMatchObject({ waiting: [], results: [{ ok: true }] })
  expect((await shop.runtime.session().step([refundOf('c')])).waiting).toHaveLength(1)
  expect(shop.done).toEqual(['12', '12'])
})

test('whoever waits in a process goes on when it is answered from elsewhere, and their own dialog is told (PERM-3)', async () => {
  const path = makeStore()
  const [asking, deciding] = [await openShop(path), await openShop(path)]
  const dialog = Promise.withResolvers<AbortSignal>()
  const session = asking.runtime.session({
    approve: (_, signal) => {
      dialog.resolve(signal)
      return new Promise(() => {})
    },
  })
  const running = session.call('shop.refund', { order: '7' }, { id: 'a' })
  const signal = await dialog.promise
  const [waiting] = deciding.runtime.approvals.list()
  expect(waiting).toMatchObject({ request: { toolCallId: 'a', tool: 'shop.refund' }, state: 'waiting' })
  await deciding.runtime.approvals.decide(waiting?.id ?? '', { decision: 'allow_once', by: 'bob' })
  expect(await running).toMatchObject({ ok: true, metadata: { approval: { by: 'bob', id: waiting?.id } } })
  expect(signal.aborted).toBe(true)
  expect(asking.done).toEqual(['7'])
  expect(deciding.runtime.approvals.list({ state: 'all' })).toEqual([])
})

test('what the program itself answers is over for all others (PERM-3)', async () => {
  const shop = await openShop(makeStore())
  const person = personSaying('allow_once')
  const seen: number[] = []
  const session = shop.runtime.session({
    approve: (request) => {
      seen.push(shop.runtime.approvals.list().length)
      return person.approve(request)
    },
  })
  expect(await session.call('shop.refund', { order: '7' })).toMatchObject({ ok: true })
  expect(seen).toEqual([1])
  expect(shop.runtime.approvals.list({ state: 'all' })).toEqual([])
})

test('a person who is asked with what a call did decides it from elsewhere too, and a no leaves nothing waiting', async () => {
  const shop = await openShop(makeStore())
  const session = shop.runtime.session({ approve: () => new Promise(() => {}) })
  const running = session.call('shop.refund', { order: '7' }, { id: 'a' })
  await expect.poll(() => shop.runtime.approvals.list().length).toBe(1)
  session.abort('a')
  expect(await running).toMatchObject({ outcome: 'aborted' })
  await expect.poll(() => shop.runtime.approvals.list({ state: 'all' })).toEqual([])
})

test('a runtime that closes ends what watches, and what waits for an answer', async () => {
  const shop = await openShop(makeStore())
  const told: number[] = []
  shop.runtime.approvals.watch((waiting) => told.push(waiting.length))
  const asked = Promise.withResolvers<void>()
  const session = shop.runtime.session({
    approve: () => {
      asked.resolve()
      return new Promise(() => {})
    },
  })
  const running = session.call('shop.refund', { order: '7' })
  await asked.promise
  await shop.runtime.close()
  expect(await running).toMatchObject({ outcome: 'aborted' })
  expect(told.slice(0, 2)).toEqual([0, 1])
})

test('a listener is told of what waits in every process, and of its end', async () => {
  const path = makeStore()
  const [asking, watching] = [await openShop(path), await openShop(path)]
  const told: string[][] = []
  const stop = watching.runtime.approvals.watch((waiting) => {
    told.push(waiting.map(({ request }) => request.toolCallId))
  })
  const session = asking.runtime.session()
  const step = await session.step([refundOf('a')])
  await expect.poll(() => told).toEqual([[], ['a']])
  await asking.runtime.approvals.decide(step.waiting[0]?.approval.id ?? '', { decision: 'deny', by: 'bob' })
  await expect.poll(() => told).toEqual([[], ['a'], []])
  stop()
  await session.step([refundOf('b', '13')])
  expect(told).toHaveLength(3)
})
