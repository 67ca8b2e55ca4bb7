import type { PendingApproval } from 'handrail/approvals'
import { expect, test } from 'vitest'
import { handrail, jsonOf, makePlace, type Place } from '../support/command-line.ts'
import { openShop, refundOf } from '../support/shop.ts'
import { startCommand } from '../support/start-command.ts'
import { openTerminal } from '../support/terminal.ts'

const approvals = (place: Place, ...argv: string[]) => handrail(place, ['approvals', ...argv])

/** A person whose policy wants another one's yes to refunds, and a question that waits in their store. */
async function ask(rule: object = { notRequester: true }, actor = 'ann') {
  const place = makePlace({}, { 'policy.json': { approvers: [{ tools: ['shop.*'], ...rule }] } })
  const shop = await openShop(place.store, {
    policy: { approvers: [{ tools: ['shop.*'], ...rule }] },
  })
  const session = shop.runtime.session({ actor })
  const step = await session.step([refundOf('a')])
  const id = step.waiting[0]?.approval.id ?? ''
  return { place, shop, session, step, id }
}

test('what waits is listed, shown in full and allowed from another process, once (PERM-3, PERM-6)', async () => {
  const { place, shop, session, step, id } = await ask()
  const listed = await approvals(place)
  expect(listed.code).toBe(0)
  expect(listed.stdout).toMatch(
    new RegExp(`^${id}  waiting, .+ left  shop\\.refund  for ann of local: .*\\n1 approval\\n$`),
  )
  const shown = await approvals(place, 'show', id.slice(-6))
  for (const part of [
    id,
    'shop.refund wants to run',
    'asked by   ann of local as main',
    session.id,
    'why asked  the tool changes things',
    '"order": "12"',
    'covers     a yes for the session: ',
    'needs      the yes of one person',
    'digest     ',
  ])
    expect(shown.stdout).toContain(part)
  expect(jsonOf<PendingApproval>(await approvals(place, 'show', 'last', '--json'))).toMatchObject({
    id,
    state: 'waiting',
  })

  const unasked = await approvals(place, 'allow', 'last')
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('Add --yes')])
  const own = await approvals(place, 'allow', 'last', '--yes', '--as', 'ann')
  expect([own.code, own.stderr]).toEqual([3, expect.stringContaining('not_approver: ')])
  const stale = await approvals(place, 'allow', 'last', '--yes', '--as', 'bob', '--digest', 'other')
  expect([stale.code, stale.stderr]).toEqual([1, expect.stringContaining('approval_changed: ')])

  const allowed = await approvals(place, 'allow', id.slice(-6), '--yes', '--as', 'bob', '--reason', 'fine')
  expect([allowed.code, allowed.stdout]).toEqual([
    0,
    `${id}: allowed by bob: shop.refund for ann of local.\n`,
  ])
  const late = await approvals(place, 'deny', id, '--as', 'cleo')
  expect([late.code, late.stderr]).toEqual([
    1,
    expect.stringContaining(`approval_over: "${id}" was answered by bob with allow_once`),
  ])
  expect(await session.resume(step)).toMatchObject({ endReason: 'completed', results: [{ ok: true }] })
  expect(shop.done).toEqual(['12'])
  expect((await approvals(place)).stdout).toBe('0 approvals\n')
  const all = jsonOf<PendingApproval[]>(await approvals(place, '--all', '--json'))
  expect(all).toMatchObject([{ id, state: 'used', answers: [{ by: 'bob', reason: 'fine' }] }])
})

test('a no is told to the model with its reason, and says who gave it (PERM-3, PERM-5)', async () => {
  const { place, session, step, id } = await ask()
  const denied = await approvals(place, 'deny', 'last', '--reason', 'ask the customer first', '--json')
  expect(jsonOf(denied)).toMatchObject({ id, state: 'denied', answers: [{ by: expect.stringMatching(/./) }] })
  const { results } = await session.resume(step)
  expect(results[0]?.error?.message).toContain('ask the customer first')
})

test('two people are needed where the policy says so, and an unknown or unclear name is told (PERM-3)', async () => {
  const { place, session, id } = await ask({ needed: 2 })
  const first = await approvals(place, 'allow', 'last', '--yes', '--as', 'bob', '--for-session')
  expect(first.stdout).toContain(', 1 of 2. It waits for other people.')
  const again = await approvals(place, 'allow', 'last', '--yes', '--as', 'bob')
  expect([again.code, again.stderr]).toEqual([3, expect.stringContaining('they said yes already')])
  expect((await approvals(place)).stdout).toContain('waiting, 1 of 2 said yes, ')
  expect((await approvals(place, 'allow', 'last', '--yes', '--as', 'cleo')).stdout).toContain(
    `${id}: allowed by cleo`,
  )
  const unknown = await approvals(place, 'show', 'apr_nothing')
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('the store has no approval "apr_nothing"'),
  ])
  expect((await approvals(place, 'deny', 'last')).stderr).toContain('no approval waits')
  await session.step([refundOf('b', '13')])
  expect((await approvals(place, '--tenant', 'acme')).stdout).toBe('0 approvals\n')
})

test('what comes and ends is followed, whatever process it is of', async () => {
  const { place, shop, session, id } = await ask()
  const following = await startCommand(place, ['approvals', '--follow', '--json'])
  await following.saw(`{"event":"requested","approval":{"id":"${id}"`)
  await shop.runtime.approvals.decide(id, { decision: 'deny', by: 'bob' })
  await following.saw(`{"event":"decided","approval":{"id":"${id}"`)
  const call = session.call('shop.refund', { order: '14' }, { approve: () => new Promise(() => {}) })
  await following.saw('"order\\": \\"14\\"')
  const [held] = shop.runtime.approvals.list()
  expect((await approvals(place, 'allow', 'last', '--yes', '--as', 'cleo')).code).toBe(0)
  expect(await call).toMatchObject({ ok: true, metadata: { approval: { by: 'cleo', id: held?.id } } })
  await following.saw(`{"event":"decided","approval":{"id":"${held?.id}"`)
  following.stop()
  expect((await following.ended).code).toBe(0)
})

test('a person at a terminal sees the question and is asked, with nothing in it hidden (PERM-6)', async () => {
  const { place, session, step } = await ask()
  const terminal = openTerminal(place, ['approvals', 'allow', 'last', '--as', 'bob'])
  await terminal.saw('Allow it as bob? yes / no:')
  expect(terminal.screen()).toContain('shop.refund wants to run')
  terminal.type('y\n')
  expect(await terminal.ended).toBe(0)
  expect(await session.resume(step)).toMatchObject({ endReason: 'completed', results: [{ ok: true }] })
})

test('a question at a terminal says where else it can be answered, and ends when it is', async () => {
  const place = makePlace()
  const terminal = openTerminal(place, ['call', 'code.write_file', '{"path":"a.txt","content":"hi"}'])
  await terminal.saw('Allow? yes / no:')
  const [, id = ''] = /handrail approvals show (apr_\w+)/.exec(terminal.screen()) ?? []
  expect((await approvals(place, 'allow', id, '--yes', '--as', 'bob')).code).toBe(0)
  expect(await terminal.ended).toBe(0)
  expect(terminal.screen()).toContain(`${id} was answered elsewhere: by bob with allow_once.`)
  expect(terminal.screen()).toContain('Created a.txt')
})
