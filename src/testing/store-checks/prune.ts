import assert from 'node:assert/strict'
import type { Store } from '../../contract/store.ts'
import { sampleBegin, sampleEnd, sampleInput, sampleResult } from './sample-records.ts'
import type { Checks } from './store-under-test.ts'
import { assertLinked, note, read, use } from './read-back.ts'

/** The sample records are older than this. */
const now = 1_800_000_000_000

export const pruneChecks: Checks = {
  'removes the bodies of older records and keeps the records': async ({ store }) => {
    const at = 1_763_667_600_005
    await store.append([sampleBegin('a', { at }), note('a'), sampleEnd('a', { at: at + 10 })])
    const before = read(store, {})
    assert.equal(store.prune({ at }), 0)
    assert.equal(store.countPrunable({ at: at + 1 }), 1)
    assert.deepEqual(read(store, {}), before)
    assert.equal(store.prune({ at: at + 1 }), 1)
    assert.deepEqual(bodies(store), [null, null, sampleResult])
    assert.equal(store.prune({ at: at + 1 }), 0)
    assert.equal(store.prune({ at: now }), 1)
    assert.deepEqual(
      read(store, {}),
      before.map((record) => ({ ...record, body: null })),
    )
    assertLinked(read(store, {}))
    await store.append([sampleBegin('b')])
    assertLinked(read(store, {}))
  },

  'prunes one tenant alone': async ({ store }) => {
    const other = { tenant: 'other' }
    await store.append([sampleBegin('a'), sampleEnd('a'), sampleBegin('b', other), sampleEnd('b', other)])
    assert.equal(store.prune({ tenant: 'other', at: now }), 2)
    assert.equal(store.prune({ tenant: 'nobody', at: now }), 0)
    assert.deepEqual(bodies(store), [sampleInput, sampleResult, null, null])
  },

  'keeps the input of a call that has not ended': async ({ store }) => {
    await store.append([sampleBegin('open'), sampleBegin('a'), sampleEnd('a')])
    assert.equal(store.countPrunable({ at: now }), 2)
    assert.equal(store.prune({ at: now }), 2)
    assert.deepEqual(bodies(store), [sampleInput, null, null])
    await store.append([sampleEnd('open')])
    assert.equal(store.prune({ at: now }), 2)
  },

  'keeps the result of a call as long as its key gives it': async ({ store }) => {
    const living = use('a', { at: Date.now(), windowMs: 60_000 })
    const expired = use('b', { key: 'old', at: Date.now() - 1000, windowMs: 1000 })
    for (const each of [living, expired]) store.claimKey(each)
    await store.append(['a', 'b'].flatMap((call) => [sampleBegin(call), sampleEnd(call)]))
    assert.equal(store.prune({ at: now }), 2)
    assert.deepEqual(bodies(store), [sampleInput, sampleResult, null, null])
    assert.equal(store.claimKey({ ...living, call: 'c' }).state, 'ended')
  },

  'prunes more records than fit in one look': async ({ store }) => {
    const calls = Array.from({ length: 1100 }, (_, index) => `call_${index}`)
    await store.append(calls.flatMap((call) => [sampleBegin(call), sampleEnd(call)]))
    assert.equal(store.prune({ at: now }), 2200)
    assert.ok(bodies(store).every((body) => body === null))
  },
}

function bodies(store: Store): (string | null)[] {
  return read(store, {}).map(({ body }) => body)
}
