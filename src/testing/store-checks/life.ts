import assert from 'node:assert/strict'
import { ToolFailure } from '../../contract/base/errors.ts'
import { sampleBegin, sampleEnd } from './sample-records.ts'
import type { Checks } from './store-under-test.ts'
import { assertLinked, assertRefused, kinds, read, use } from './read-back.ts'

export const lifeChecks: Checks = {
  'takes no more records once it is closed': async ({ store }) => {
    await store.append([sampleBegin('a')])
    await store.close()
    await assertRefused(store.append([sampleEnd('a')]))
    await store.close()
  },

  'writes what is waiting before it closes': async ({ store, reopen }) => {
    if (reopen === undefined) return
    const written = store.append([sampleBegin('a'), sampleEnd('a')])
    const again = await reopen()
    await written
    assert.deepEqual(kinds(again), ['begin', 'end'])
  },

  'goes on with chain and keys after it was opened again': async ({ store, reopen }) => {
    if (reopen === undefined) return
    store.claimKey(use('a'))
    await store.append([sampleBegin('a', { writer: store.writer }), sampleEnd('a')])
    const again = await reopen()
    assert.notEqual(again.writer, store.writer)
    assert.equal(again.claimKey(use('b')).state, 'ended')
    await again.append([sampleBegin('b', { writer: again.writer })])
    assert.equal(again.head('local')?.sequence, 3)
    assertLinked(read(again, {}))
  },

  'knows the calls that a process left open, and no others (EVID-1)': async ({ store, reopen }) => {
    if (reopen === undefined) return
    const { writer } = store
    store.claimKey(use('left'))
    store.claimKey(use('never begun', { key: 'k2' }))
    await store.append([
      sampleBegin('ended', { writer }),
      sampleBegin('left', { writer }),
      sampleEnd('ended'),
    ])
    assert.deepEqual(store.orphans(), [])
    const again = await reopen()
    await again.append([sampleBegin('running', { writer: again.writer })])
    assert.deepEqual(again.orphans(), [{ tenant: 'local', call: 'left' }])
    assert.deepEqual(again.claimKey(use('b')), { state: 'unknown', call: 'left' })
    assert.deepEqual(again.claimKey(use('b', { key: 'k2' })), { state: 'claimed' })
    await again.append([sampleEnd('left', { outcome: 'unknown' })])
    assert.deepEqual(again.orphans(), [])
  },

  'knows which of the processes that wrote to it live (CALL-6)': async ({ store, openBeside, reopen }) => {
    const { writer } = store
    await store.append([sampleBegin('a', { writer })])
    assert.equal(store.lives(writer), true)
    assert.equal(store.lives('writer_of_nobody'), false)
    if (openBeside !== undefined) assert.equal((await openBeside()).lives(writer), true)
    if (reopen === undefined) return
    const again = await reopen()
    assert.equal(again.lives(writer), false)
  },

  'takes no records where its chain was damaged, and is read as before (EVID-7)': async ({
    store,
    damage,
  }) => {
    if (damage === undefined) return
    assert.equal(store.readOnly, undefined)
    store.claimKey(use('a'))
    await store.append([sampleBegin('a', { writer: store.writer })])
    const damaged = await damage()
    assert.match(damaged.readOnly ?? '', /"local".*record 1\b/)
    const refusals = [
      damaged.append([sampleEnd('a')]),
      damaged.append([], { facts: [{ tenant: 'local', kind: 'pin', id: 'a', value: 1 }] }),
      ...[
        () => damaged.claimKey(use('b', { key: 'k2' })),
        () => damaged.reserve({ call: 'a', tenant: 'local', at: 0, leaseMs: 1, items: [] }),
        () => damaged.prune({ at: 1 }),
      ].map(async (write) => void write()),
    ]
    const readOnly = (error: unknown): boolean =>
      error instanceof ToolFailure &&
      error.code === 'PROVIDER.UNAVAILABLE' &&
      error.reason === 'store_read_only'
    for (const refusal of refusals) await assert.rejects(async () => refusal, readOnly)
    // What nobody has to wait for may be closed as ever.
    await damaged.append([])
    damaged.refund('a')
    assert.deepEqual(kinds(damaged), ['begin'])
    assert.equal(damaged.findKey(use('b'))?.state, 'unknown')
    assert.deepEqual(damaged.orphans(), [{ tenant: 'local', call: 'a' }])
    assert.deepEqual(damaged.facts('pin'), [])
  },
}
