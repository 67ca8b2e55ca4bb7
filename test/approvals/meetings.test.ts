import { defineTool, type ApprovalAnswer } from 'handrail'
import { expect, test } from 'vitest'
import { makeFolder } from '../support/project.ts'
import { makeStore, openShop, refundOf } from '../support/shop.ts'

const never = { results: [], waiting: [], order: [], endReason: 'completed' } as const
const yes = { decision: 'allow_once', by: 'bob' } as const

test('two actors who open one id at once have nothing in common (AUTH-6)', async () => {
  const { runtime, done } = await openShop(makeStore())
  const approve = async (): Promise<ApprovalAnswer> => ({ decision: 'allow_for_session' })
  const ann = runtime.session({ id: 'thread', actor: 'ann', approve })
  const eve = runtime.session({ id: 'thread', actor: 'eve' })
  await ann.call('shop.refund', { order: '1' })
  expect((await eve.step([refundOf('z', '1')])).waiting).toHaveLength(1)
  expect(eve.approvals()).toEqual([])
  expect(done).toEqual(['1'])
})

test('a yes that says that no person answered is a yes, and has to be one that counts (AUTH-3)', async () => {
  const { runtime, done } = await openShop(makeStore(), { policy: { approvers: [{ approvers: ['bob'] }] } })
  const refused = Promise.withResolvers<void>()
  const session = runtime.session({
    actor: 'ann',
    approve: async () => ({ decision: 'allow_once', by: 'ann', metadata: { unanswered: true } }),
  })
  session.on(({ type }) => type === 'permission_refused' && refused.resolve())
  const running = session.call('shop.refund', { order: '1' }, { id: 'a' })
  await refused.promise
  session.abort('a')
  expect(await running).toMatchObject({ outcome: 'aborted' })
  expect(done).toEqual([])
})

test('an answer that another program let through counts by the policy of the process of the call (AUTH-3)', async () => {
  const path = makeStore()
  const strict = await openShop(path, { policy: { approvers: [{ notRequester: true, approvers: ['bob'] }] } })
  const lax = await openShop(path)
  const session = strict.runtime.session({ actor: 'ann', approve: () => new Promise(() => {}) })
  const running = session.call('shop.refund', { order: '1' })
  await expect.poll(() => lax.runtime.approvals.list()).toHaveLength(1)
  const [waiting] = lax.runtime.approvals.list()
  await lax.runtime.approvals.decide(waiting?.id ?? '', { decision: 'allow_once', by: 'ann' })
  expect(await running).toMatchObject({ error: { code: 'POLICY.APPROVAL_DENIED', reason: 'approval_stale' } })
  expect(strict.done).toEqual([])
  expect(strict.runtime.approvals.list({ state: 'all' })).toEqual([])
})

test('a call that is aborted while it is answered leaves no yes for another one (PERM-5)', async () => {
  const path = makeStore()
  const [asking, deciding] = [await openShop(path), await openShop(path)]
  const session = asking.runtime.session({ approve: () => new Promise(() => {}) })
  for (const round of [1, 2, 3, 4, 5, 6]) {
    const running = session.call('shop.refund', { order: `${round}` }, { id: 'x' })
    await expect.poll(() => deciding.runtime.approvals.list(), { interval: 2 }).toHaveLength(1)
    const [waiting] = deciding.runtime.approvals.list()
    const deciding2 = deciding.runtime.approvals.decide(waiting?.id ?? '', yes).catch(() => {})
    session.abort('x')
    await Promise.all([running, deciding2])
  }
  await asking.runtime.close()
  expect(
    deciding.runtime.approvals.list({ state: 'all' }).filter(({ state }) => state === 'allowed'),
  ).toEqual([])
})

test('a yes for the session is of the one call that used it (PERM-4)', async () => {
  const { runtime, done } = await openShop(makeStore())
  const [one, two] = [runtime.session({ actor: 'ann' }), runtime.session({ actor: 'ann' })]
  const step = await one.step([refundOf('a')])
  await runtime.approvals.decide(step.waiting[0]?.approval.id ?? '', {
    decision: 'allow_for_session',
    by: 'bob',
  })
  await Promise.all([one.resume(step), two.resume(step)])
  expect(done).toEqual(['12'])
  expect([...one.approvals(), ...two.approvals()]).toHaveLength(1)
})

test('two callers ask two questions, and neither takes that of the other away (PERM-4)', async () => {
  const { runtime, done } = await openShop(makeStore())
  const agent = (runId: string) => ({ actor: 'ann', agent: { agentId: 'helper', runId } })
  const sessions = [
    runtime.session(agent('1')),
    runtime.session(agent('2')),
    runtime.session({ actor: 'ann' }),
  ]
  const twice = runtime.session({ actor: 'ann' })
  const steps = await Promise.all([...sessions, twice].map((session) => session.step([refundOf('call_0')])))
  const ids = steps.map(({ waiting }) => waiting[0]?.approval.id ?? '')
  expect(new Set(ids).size).toBe(4)
  await runtime.approvals.decide(ids[0] ?? '', yes)
  await runtime.approvals.decide(ids[1] ?? '', { decision: 'deny', by: 'bob' })
  const ends = await Promise.all(
    [...sessions, twice].map((session, index) => session.resume(steps[index] ?? { ...never })),
  )
  expect(ends.map(({ endReason, results }) => results[0]?.outcome ?? endReason)).toEqual([
    'ok',
    'denied',
    'waiting',
    'waiting',
  ])
  expect(done).toEqual(['12'])
})

test('what the policy obliges to hide is hidden in what is kept of a question (OUT-3)', async () => {
  const policy = { obligations: [{ id: 'ssn', action: 'redact', patterns: ['SSN-[0-9]+'] }] } as const
  const { runtime } = await openShop(makeStore(), { policy })
  await runtime.session().step([refundOf('a', 'SSN-12345')])
  expect(JSON.stringify([runtime.approvals.list(), runtime.store.facts('approval')])).not.toContain(
    'SSN-12345',
  )
})

test('two who resume a denied step at once both hear the no, with evidence of each call (EVID-1)', async () => {
  const path = makeStore()
  const [one, two] = [await openShop(path), await openShop(path)]
  const step = await one.runtime.session().step([refundOf('a')])
  await one.runtime.approvals.decide(step.waiting[0]?.approval.id ?? '', { decision: 'deny', by: 'bob' })
  const ends = await Promise.all([one, two].map(({ runtime }) => runtime.session().resume(step)))
  expect(ends.map(({ results, waiting }) => results[0]?.outcome ?? `${waiting.length} waits`)).toContain(
    'denied',
  )
  const records = [...one.runtime.store.records({})].filter(
    ({ kind }) => kind !== 'note' && kind !== 'checkpoint',
  )
  expect(records.filter(({ kind }) => kind === 'begin').length).toBe(
    records.filter(({ kind }) => kind === 'end').length,
  )
})

test('a step shows no question of another tenant, and no result of another call (AUTH-6)', async () => {
  const { runtime, done } = await openShop(makeStore(), { policy: { tenants: { acme: {} } } })
  const session = runtime.session({ actor: 'ann' })
  const step = await session.step([refundOf('a', '55')])
  const [waiting] = step.waiting
  if (waiting === undefined) throw new Error('a call waits')
  const forged = { ...step, waiting: [{ ...waiting, call: { ...waiting.call, input: { order: '999' } } }] }
  const seen = await runtime.session({ actor: 'ann', tenant: 'acme' }).resume(forged)
  expect(JSON.stringify(seen)).not.toContain(waiting.approval.id)
  await runtime.approvals.decide(waiting.approval.id, yes)
  await session.resume(step)
  const other = await session.resume(forged)
  expect(JSON.stringify(other.results)).not.toContain('55')
  expect(done).toEqual(['55'])
})

test('what stops the turn of a step leaves the rest waiting, to be gone on with (TURN-7)', async () => {
  const { runtime, done } = await openShop(makeStore())
  const session = runtime.session()
  const step = await session.step([refundOf('a')])
  await runtime.approvals.decide(step.waiting[0]?.approval.id ?? '', yes)
  const stopped = await session.resume(step, { signal: AbortSignal.abort() })
  expect(stopped).toMatchObject({ results: [], waiting: [{ call: refundOf('a') }] })
  expect(await session.resume(stopped)).toMatchObject({ waiting: [], results: [{ ok: true }] })
  expect(done).toEqual(['12'])
})

test('a question is over once its call went through without it', async () => {
  const { runtime, done } = await openShop(makeStore())
  const session = runtime.session()
  const step = await session.step([refundOf('a')])
  await runtime.approvals.decide(step.waiting[0]?.approval.id ?? '', yes)
  const consent = await runtime.consents.give({ tool: 'shop.refund', givenBy: 'bob' })
  expect(await session.resume(step)).toMatchObject({ waiting: [], results: [{ ok: true }] })
  await runtime.consents.revoke('local', consent.id, 'bob')
  expect(runtime.approvals.list({ state: 'all' })).toEqual([])
  expect(done).toEqual(['12'])
})

test('restrictions of a session stay in their order, and count at once in every process (POOL-6)', async () => {
  const path = makeStore()
  const options = { now: () => Date.parse('2026-01-01T00:00:00Z') }
  const [one, two] = [await openShop(path, options), await openShop(path, options)]
  const session = one.runtime.session({ id: 'thread' })
  const other = two.runtime.session({ id: 'thread' })
  session.restrict({ name: 'z', replace: true, allowedTools: ['shop.*'] })
  session.restrict({ name: 'a', disallowedTools: ['shop.look'] })
  const call = { order: '1' }
  expect(await session.call('shop.look', call)).toMatchObject({ outcome: 'denied' })
  await expect.poll(async () => (await other.call('shop.look', call)).outcome).toBe('denied')
  const third = await openShop(path, options)
  expect(await third.runtime.session({ id: 'thread' }).call('shop.look', call)).toMatchObject({
    outcome: 'denied',
  })
})

test('what has to be reviewed after it ran is not asked about in a step, and a step asks no person (SB-24)', async () => {
  const reviewed = defineTool({
    name: 'shop.review',
    description: 'Has to be seen.',
    permission: 'write',
    input: { type: 'object', properties: {} },
    plan: () => ({ operations: [], held: { tryFirst: false, required: true, review: 'always' as const } }),
    run: () => 'done',
  })
  const shop = await openShop(makeStore(), { project: makeFolder(), tools: [reviewed] })
  const asked: string[] = []
  const session = shop.runtime.session({
    approve: async ({ tool }) => {
      asked.push(tool)
      return { decision: 'allow_once' }
    },
  })
  const { results } = await session.step([{ tool: 'shop.review' }])
  expect(results).toMatchObject([{ error: { code: 'POLICY.APPROVAL_DENIED', reason: 'no_callback' } }])
  expect(asked).toEqual([])
})

test('bad steps and calls are answered, never with a raw error', async () => {
  const { runtime } = await openShop(makeStore())
  const session = runtime.session()
  const step = await session.step([refundOf('a')])
  await expect(session.resume({ ...step, results: [null] as never })).rejects.toMatchObject({
    code: 'invalid_options',
  })
  expect(await session.step([], null as never)).toMatchObject({ endReason: 'completed' })
  expect(await session.refuse(undefined as never, { by: 'bob' })).toMatchObject({ ok: false })
  await runtime.close()
  expect(await session.resume(step)).toMatchObject({ results: [{ outcome: 'aborted' }] })
})
