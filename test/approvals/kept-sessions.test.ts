import { expect, test } from 'vitest'
import { makeStore, openShop, refundOf } from '../support/shop.ts'
import { personSaying } from '../support/project.ts'

const look = { tool: 'shop.look', input: { order: '1' } }

test('a session goes on by its id, in another process too: its yeses, what narrows it, its counts (PERM-4, POOL-6)', async () => {
  const path = makeStore()
  const limits = { callsPerSession: 4 }
  const before = await openShop(path, { limits })
  const person = personSaying('allow_for_session')
  const session = before.runtime.session({ id: 'thread-1', actor: 'ann', approve: person.approve })
  expect(session.id).toBe('thread-1')
  expect(await session.call('shop.refund', { order: '1' })).toMatchObject({ ok: true })
  session.restrict({ disallowedTools: ['shop.look'], name: 'skill' })
  await before.runtime.close()

  const after = await openShop(path, { limits })
  const again = after.runtime.session({ id: 'thread-1', actor: 'ann' })
  expect(again.approvals()).toMatchObject([{ tool: 'shop.refund', scope: 'this very input' }])
  expect(await again.call('shop.refund', { order: '1' })).toMatchObject({ ok: true })
  expect(await again.call('shop.look', { order: '1' })).toMatchObject({ outcome: 'denied' })
  // Under its name it can be ended in another process than the one that added it.
  again.restrict({ name: 'skill' })()
  expect(await again.call('shop.look', { order: '1' })).toMatchObject({ ok: true })
  expect(await again.call('shop.look', { order: '2' })).toMatchObject({ ok: true })
  expect(await again.call('shop.look', { order: '3' })).toMatchObject({ error: { reason: 'calls' } })
  expect(person.asked).toHaveLength(1)
  // Another session has none of it.
  const other = after.runtime.session({ id: 'thread-2', actor: 'ann' })
  expect((await other.step([refundOf('x', '1')])).waiting).toHaveLength(1)
})

test('a yes for the session counts at once in every process that has it open, and so does its end (PERM-4)', async () => {
  const path = makeStore()
  const [one, two] = [await openShop(path), await openShop(path)]
  const open = (shop: typeof one) =>
    shop.runtime.session({ id: 'thread', approve: personSaying('allow_for_session').approve })
  const [first, second] = [open(one), two.runtime.session({ id: 'thread' })]
  const { callId } = await first.call('shop.refund', { order: '1' })
  await expect
    .poll(async () => (await second.step([refundOf('b', '1')])).results)
    .toMatchObject([{ ok: true }])
  expect(first.revokeApproval(callId, 'ann')).toBe(true)
  await expect.poll(() => second.approvals()).toEqual([])
  expect((await second.step([refundOf('c', '1')])).waiting).toHaveLength(1)
})

test('a session is of one actor and role, and a child has no id (AUTH-6)', async () => {
  const path = makeStore()
  const { runtime } = await openShop(path)
  runtime.session({ id: 'thread', actor: 'ann' })
  const { runtime: later } = await openShop(path)
  const refused = {
    code: 'invalid_options',
    issues: [expect.objectContaining({ pointer: '/id', code: 'other_owner' })],
  }
  const session = runtime.session({ id: 'thread', actor: 'ann' })
  await session.call('shop.look', look.input)
  for (const other of [{ actor: 'eve' }, { actor: 'ann', role: 'sub' as const }])
    expect(() => later.session({ id: 'thread', ...other })).toThrow(expect.objectContaining(refused))
  expect(() => runtime.session({ id: 'a/b' })).toThrow(/is not an id/)
  expect(() => runtime.session({ id: session.id.replace('thread', 'ses_1') })).toThrow(/made by Handrail/)
  expect(() => runtime.session({ id: 'child', parent: session })).toThrow(/no id of its own/)
  // What is forgotten is free again.
  await session.close({ forget: true })
  expect(later.session({ id: 'thread', actor: 'eve' }).id).toBe('thread')
})

test('a yes that was for a time ends with that, also when the session is opened again (PERM-4)', async () => {
  let time = Date.parse('2026-01-01T00:00:00Z')
  const path = makeStore()
  const options = { now: () => time }
  const before = await openShop(path, options)
  const session = before.runtime.session({ id: 'thread', approve: personSaying('allow_for_session').approve })
  await session.call('shop.brief', { order: '1' })
  expect(session.approvals()).toHaveLength(1)
  await before.runtime.close()
  time += 59_999
  const soon = await openShop(path, options)
  expect(soon.runtime.session({ id: 'thread' }).approvals()).toHaveLength(1)
  time += 1
  const late = await openShop(path, options)
  expect(late.runtime.session({ id: 'thread' }).approvals()).toEqual([])
})
