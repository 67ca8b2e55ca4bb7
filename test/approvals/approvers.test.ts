import type { ApprovalAnswer, ApprovalRequest } from 'handrail'
import type { ApproverRule } from 'handrail/policy'
import { expect, test } from 'vitest'
import { makeStore, openShop, refundOf } from '../support/shop.ts'

async function openUnder(approvers: readonly ApproverRule[], now: () => number = Date.now) {
  const shop = await openShop(makeStore(), { policy: { approvers }, now })
  const session = shop.runtime.session({ actor: 'ann' })
  const step = await session.step([refundOf('a')])
  const id = step.waiting[0]?.approval.id ?? ''
  const say = (by: string, decision: ApprovalAnswer['decision'] = 'allow_once') =>
    shop.runtime.approvals.decide(id, { decision, by })
  return { ...shop, session, step, id, say }
}

test('the one who asks cannot say yes if the policy says so, and can say no (AUTH-3)', async () => {
  const { say, session, step, done } = await openUnder([{ tools: ['shop.*'], notRequester: true }])
  await expect(say('ann')).rejects.toMatchObject({
    code: 'not_approver',
    message: expect.stringContaining('another person'),
  })
  expect(await say('bob')).toMatchObject({ state: 'allowed' })
  expect(await session.resume(step)).toMatchObject({ waiting: [], results: [{ ok: true }] })
  expect(done).toEqual(['12'])
  const other = await openUnder([{ notRequester: true }])
  expect(await other.say('ann', 'deny')).toMatchObject({ state: 'denied' })
})

test('only those whom the policy names say yes, and from some time on others too (AUTH-3)', async () => {
  let time = Date.parse('2026-01-01T00:00:00Z')
  const rule = { approvers: ['bob', 'lead-*'], escalate: { afterMs: 1_000, approvers: ['cleo'] } }
  const { say } = await openUnder([rule], () => time)
  await expect(say('eve')).rejects.toMatchObject({ code: 'not_approver' })
  await expect(say('cleo')).rejects.toMatchObject({ code: 'not_approver' })
  time += 1_000
  expect(await say('cleo')).toMatchObject({ state: 'allowed' })
  const other = await openUnder([rule], () => time)
  expect(await other.say('lead-1')).toMatchObject({ state: 'allowed' })
})

test('two people have to say yes where the policy says so, and one no is enough (AUTH-3)', async () => {
  const { say, session, step, done } = await openUnder([{ needed: 2, notRequester: true }])
  expect(await say('bob')).toMatchObject({ state: 'waiting', needed: 2, answers: [{ by: 'bob' }] })
  expect(await session.resume(step)).toMatchObject({ endReason: 'waiting', results: [] })
  await expect(say('bob')).rejects.toMatchObject({ code: 'not_approver' })
  expect(await say('cleo')).toMatchObject({ state: 'allowed' })
  expect(await session.resume(step)).toMatchObject({
    results: [{ ok: true, metadata: { approval: { by: 'bob, cleo' } } }],
  })
  expect(done).toEqual(['12'])
  const other = await openUnder([{ needed: 2 }])
  await other.say('bob')
  expect(await other.say('cleo', 'deny')).toMatchObject({ state: 'denied' })
})

test('every entry that matches has to be met, and one for other tools or tenants says nothing (AUTH-3)', async () => {
  const { say } = await openUnder([
    { approvers: ['bob', 'ann'] },
    { tools: ['shop.refund'], notRequester: true },
    { tools: ['deploy.*'], needed: 3 },
    { tenants: ['acme'], needed: 3 },
  ])
  await expect(say('ann')).rejects.toMatchObject({ code: 'not_approver' })
  await expect(say('cleo')).rejects.toMatchObject({ code: 'not_approver' })
  expect(await say('bob')).toMatchObject({ state: 'allowed', needed: 1 })
})

test('a yes counts by the policy that is in force when the call goes on (AUTH-5)', async () => {
  const { say, session, step, done, runtime } = await openUnder([])
  await say('ann')
  await runtime.reload({ policy: { approvers: [{ notRequester: true }] } })
  const next = await session.resume(step)
  expect(next.waiting).toHaveLength(1)
  expect(next.waiting[0]?.approval.id).not.toBe(step.waiting[0]?.approval.id)
  expect(done).toEqual([])
})

test('the yes of the person whom the program asks counts only if it may, and others can say it meanwhile (AUTH-3)', async () => {
  const shop = await openShop(makeStore(), { policy: { approvers: [{ notRequester: true }] } })
  const answers: ApprovalAnswer[] = [{ decision: 'allow_once', by: 'ann' }, { decision: 'allow_once' }]
  for (const answer of answers) {
    const refused = Promise.withResolvers<string>()
    const asked: ApprovalRequest[] = []
    const session = shop.runtime.session({
      actor: 'ann',
      approve: async (request) => {
        asked.push(request)
        return answer
      },
    })
    session.on(({ type, summary }) => type === 'permission_refused' && refused.resolve(summary))
    const running = session.call('shop.refund', { order: '1' })
    expect(await refused.promise).toContain('does not count')
    expect(shop.done).toEqual([])
    const [waiting] = shop.runtime.approvals.list()
    await shop.runtime.approvals.decide(waiting?.id ?? '', { decision: 'allow_once', by: 'bob' })
    expect(await running).toMatchObject({ ok: true, metadata: { approval: { by: 'bob' } } })
    expect(asked).toHaveLength(1)
    shop.done.length = 0
  }
})

test('a call with no person to ask waits for those whom the policy names, and the model is told so (PERM-5)', async () => {
  const { runtime, done } = await openUnder([{ tools: ['shop.refund'], approvers: ['bob'] }])
  const session = runtime.session({ actor: 'ann' })
  const answer = await session.call('shop.refund', { order: '2' })
  expect(answer).toMatchObject({
    ok: false,
    outcome: 'waiting',
    error: { code: 'POLICY.APPROVAL_PENDING', reason: 'waiting', actor: 'person', next: 'wait' },
  })
  const id = JSON.stringify(answer.error?.data?.['approval']).slice(1, -1)
  expect(answer.error?.message).toContain(id)
  // Asked again meanwhile, it is the same question.
  expect((await session.call('shop.refund', { order: '2' })).error?.data?.['approval']).toBe(id)
  await runtime.approvals.decide(id, { decision: 'allow_once', by: 'bob' })
  expect(await session.call('shop.refund', { order: '2' })).toMatchObject({ ok: true })
  expect(done).toEqual(['2'])
  expect(await session.call('shop.refund', { order: '2' })).toMatchObject({ outcome: 'waiting' })
})

test('what a program decided ahead is no yes of a person whom the policy names (AUTH-3)', async () => {
  const { runtime, done } = await openUnder([{ approvers: ['bob'] }])
  const approve = Object.assign(async (): Promise<ApprovalAnswer> => ({ decision: 'allow_once' }), {
    ahead: true,
  })
  const session = runtime.session({ actor: 'ann', approve })
  expect(await session.call('shop.refund', { order: '2' })).toMatchObject({ outcome: 'waiting' })
  expect((await session.step([refundOf('b', '3')])).waiting).toHaveLength(1)
  expect(done).toEqual([])
  // Where it says nothing, that counts, also in a step.
  const free = await openShop(makeStore())
  const step = await free.runtime.session({ approve }).step([refundOf('a')])
  expect(step).toMatchObject({ waiting: [], results: [{ ok: true }] })
})

test('secrets of the runtime stand in nothing that is kept of a question (OUT-4)', async () => {
  const { runtime } = await openShop(makeStore(), { secrets: { key: 'hunter2-hunter2' } })
  const session = runtime.session()
  const step = await session.step([refundOf('a', 'order hunter2-hunter2')])
  const [waiting] = step.waiting
  await runtime.approvals.decide(waiting?.approval.id ?? '', {
    decision: 'deny',
    by: 'bob',
    reason: 'hunter2-hunter2 is wrong',
  })
  const kept = JSON.stringify([
    runtime.approvals.list({ state: 'all' }),
    runtime.store.facts('approval'),
    [...runtime.store.records({})],
  ])
  expect(kept).toContain('is wrong')
  expect(kept).not.toContain('hunter2')
  const { results } = await session.resume(step)
  expect(results).toMatchObject([{ outcome: 'denied' }])
  expect(JSON.stringify(results)).not.toContain('hunter2')
})

test('an answer that is none is refused with every issue, and changes nothing', async () => {
  const { runtime, id } = await openUnder([])
  const bad = { decision: 'yes', by: '', reason: 3, digest: 4, input: {} }
  await expect(runtime.approvals.decide(id, bad as never)).rejects.toMatchObject({
    code: 'invalid_options',
    issues: [
      { pointer: '/input', code: 'unknown_field' },
      { pointer: '/decision' },
      { pointer: '/by' },
      { pointer: '/reason' },
      { pointer: '/digest' },
    ],
  })
  await expect(
    runtime.approvals.decide(id, { decision: 'allow_once', by: 'bob', digest: 'x' }),
  ).rejects.toMatchObject({
    code: 'approval_changed',
  })
  await expect(runtime.approvals.decide('apr_x', { decision: 'deny', by: 'bob' })).rejects.toMatchObject({
    code: 'unknown_approval',
  })
  expect(runtime.approvals.list()).toMatchObject([{ id, state: 'waiting', answers: [] }])
})

test('approvers that can never be enough, and fields that are none, stop the start (CFG-2)', async () => {
  const open = (approvers: unknown) => openShop(makeStore(), { policy: { approvers } as never })
  await expect(open([{ approvers: ['bob'], needed: 2 }])).rejects.toMatchObject({
    issues: [{ pointer: '/policy/approvers/0/needed', code: 'contradiction' }],
  })
  await expect(open([{ approver: ['bob'] }])).rejects.toMatchObject({
    issues: [{ pointer: '/policy/approvers/0/approver' }],
  })
  await expect(open([{ needed: 0 }])).rejects.toMatchObject({
    issues: [{ pointer: '/policy/approvers/0/needed' }],
  })
})
