import type { RuntimeOptions } from 'handrail'
import { expect, test } from 'vitest'
import { personSaying } from '../support/project.ts'
import { makeStore, openShop } from '../support/shop.ts'

type Limits = RuntimeOptions['limits']

/** The session "thread" as one process has it. */
async function openThread(path: string, limits: Limits) {
  const shop = await openShop(path, { limits })
  const session = shop.runtime.session({ id: 'thread', approve: personSaying('allow_once').approve })
  const said = async (tool: string, order: string): Promise<unknown> => {
    const { ok, error } = await session.call(tool, { order })
    return ok || (error?.reason ?? '')
  }
  return {
    ...shop,
    session,
    look: (order = '1') => said('shop.look', order),
    refund: (order: string) => said('shop.refund', order),
  }
}

test('the same call again and again is counted over restarts, until something changes (POOL-6)', async () => {
  const path = makeStore()
  const limits = { repeatsPerSession: 3 }
  for (const expected of [true, true, true, 'repeats', 'repeats']) {
    const thread = await openThread(path, limits)
    expect(await thread.look()).toBe(expected)
    expect(await thread.look('other')).toBe(expected)
    await thread.runtime.close()
  }
  const thread = await openThread(path, limits)
  expect(await thread.refund('9')).toBe(true)
  await thread.runtime.close()
  const after = await openThread(path, limits)
  expect(await after.look()).toBe(true)
  // Another session has counts of its own.
  const { ok } = await after.runtime.session({ id: 'other' }).call('shop.look', { order: '1' })
  expect(ok).toBe(true)
})

test('what two processes do that have a session open at once counts for both, and a change in one for the other (POOL-6)', async () => {
  const path = makeStore()
  const limits = { repeatsPerSession: 4 }
  const [one, two] = [await openThread(path, limits), await openThread(path, limits)]
  for (const each of [one, two, one, two]) expect(await each.look()).toBe(true)
  for (const each of [one, two]) expect(await each.look()).toBe('repeats')
  expect(await one.refund('9')).toBe(true)
  expect(await two.look()).toBe(true)
  expect((await two.session.preflight('shop.look', { order: '1' })).budget).toMatchObject({
    repeats: { used: 1, limit: 4 },
  })
  // What was done before one closed counts as well.
  for (let i = 0; i < 3; i++) expect(await one.look()).toBe(true)
  await one.runtime.close()
  expect(await two.look()).toBe('repeats')
})

test('the calls of two processes that have a session open at once come to one limit; refused ones are not counted (POOL-6)', async () => {
  const path = makeStore()
  const limits = { callsPerSession: 4 }
  const [one, two] = [await openThread(path, limits), await openThread(path, limits)]
  expect(await one.look('1')).toBe(true)
  const child = one.runtime.session({ parent: one.session, role: 'main' })
  expect(await child.call('shop.look', { order: '2' })).toMatchObject({ ok: true })
  expect(await two.session.call('shop.look', { wrong: true })).toMatchObject({ ok: false })
  expect(await two.look('3')).toBe(true)
  expect(await one.look('4')).toBe(true)
  for (const each of [one, two]) expect(await each.look('5')).toBe('calls')
  expect(await child.call('shop.look', { order: '5' })).toMatchObject({ error: { reason: 'calls' } })
  const three = await openThread(path, limits)
  expect(await three.look('6')).toBe('calls')
})

test('a session that one process opens twice has one count (POOL-6)', async () => {
  const thread = await openThread(makeStore(), { repeatsPerSession: 2 })
  const again = thread.runtime.session({ id: 'thread' })
  expect(await thread.look()).toBe(true)
  expect(await again.call('shop.look', { order: '1' })).toMatchObject({ ok: true })
  expect(await thread.look()).toBe('repeats')
  await again.close()
  expect(await thread.look()).toBe('repeats')
  const later = thread.runtime.session({ id: 'thread' })
  expect(await later.call('shop.look', { order: '1' })).toMatchObject({ error: { reason: 'repeats' } })
})

test('what a process that died left of an open session is cleared away when it is opened again (POOL-6)', async () => {
  const path = makeStore()
  const thread = await openThread(path, {})
  const { store } = thread.runtime
  const openersOf = (): string[] =>
    store
      .facts('session')
      .map(({ value }) => value as { part: string; writer: string })
      .flatMap(({ part, writer }) => (part === 'open' ? [writer] : []))
  await expect.poll(openersOf).toEqual([store.writer])
  const [here] = store.facts('session').filter(({ id }) => id.endsWith(store.writer))
  const value = { ...(here?.value as object), writer: 'writer_gone' }
  const id = here?.id.replace(store.writer, 'writer_gone') ?? ''
  await store.append([], { facts: [{ tenant: 'local', kind: 'session', id, value }] })
  expect(openersOf()).toHaveLength(2)
  const again = thread.runtime.session({ id: 'thread' })
  await expect.poll(openersOf).toEqual([store.writer])
  await again.close()
  await thread.session.close()
  await expect.poll(openersOf).toEqual([])
})
