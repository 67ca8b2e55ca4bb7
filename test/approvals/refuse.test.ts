import { expect, test } from 'vitest'
import { makeStore, openShop, refundOf } from '../support/shop.ts'

test('a no that was given elsewhere is a call of its own, with its evidence, and ends what waits (PERM-5, EVID-1)', async () => {
  const { runtime, done } = await openShop(makeStore())
  const session = runtime.session({ actor: 'ann' })
  const step = await session.step([refundOf('a')])
  const result = await session.refuse(refundOf('a'), { by: 'bob', reason: 'not without a receipt' })
  expect(result).toMatchObject({
    toolCallId: 'a',
    outcome: 'denied',
    error: {
      code: 'POLICY.APPROVAL_DENIED',
      reason: 'denied',
      message: expect.stringContaining('not without a receipt'),
    },
    metadata: { approval: { decision: 'deny', by: 'bob', reason: 'not without a receipt' } },
  })
  const kinds = [...runtime.store.records({ call: result.callId })].map(({ kind }) => kind)
  expect(kinds).toEqual(['begin', 'end'])
  expect(runtime.approvals.list()).toEqual([])
  expect(await session.resume(step)).toMatchObject({ waiting: [], results: [{ outcome: 'denied' }] })
  expect(done).toEqual([])
})

test('what is refused for another reason says that reason, and a no without a name is none', async () => {
  const { runtime } = await openShop(makeStore())
  const session = runtime.session()
  expect(await session.refuse({ tool: 'shop.bogus' }, { by: 'bob' })).toMatchObject({
    error: { code: 'POLICY.DENY_TOOL' },
  })
  expect(await session.refuse({ tool: 'shop.refund', input: {} }, { by: 'bob' })).toMatchObject({
    error: { code: 'SCHEMA.VALIDATION_FAILED' },
  })
  await expect(session.refuse(refundOf('a'), { by: '' })).rejects.toMatchObject({ code: 'invalid_options' })
  await session.close()
  expect(await session.refuse(refundOf('a'), { by: 'bob' })).toMatchObject({ outcome: 'aborted' })
})

test('what is no step is refused before anything runs', async () => {
  const { runtime, done } = await openShop(makeStore())
  const session = runtime.session()
  const step = await session.step([refundOf('a')])
  for (const bad of [undefined, {}, [], { ...step, waiting: [{}] }, { ...step, order: 3 }])
    await expect(session.resume(bad as never)).rejects.toMatchObject({ code: 'invalid_options' })
  expect(done).toEqual([])
})

test('a forged step runs nothing that was not decided', async () => {
  const { runtime, done } = await openShop(makeStore())
  const session = runtime.session()
  const step = await session.step([refundOf('a'), refundOf('b', '13')])
  const [one, two] = step.waiting
  if (one === undefined || two === undefined) throw new Error('two calls wait')
  await runtime.approvals.decide(one.approval.id, { decision: 'allow_once', by: 'bob' })
  // Another input under the answer of the first, and a state that the store does not have.
  const forged = [
    { ...one, call: { ...one.call, input: { order: '999' } } },
    {
      ...two,
      approval: {
        ...two.approval,
        state: 'allowed',
        answers: [{ by: 'bob', decision: 'allow_once', at: 1 }],
      },
    },
    { ...two, call: { ...two.call, tool: 'shop.look' } },
  ] as const
  const next = await session.resume({ ...step, waiting: forged as never })
  expect(done).toEqual([])
  expect(next.results.filter(({ tool, ok }) => ok && tool === 'shop.refund')).toEqual([])
})
