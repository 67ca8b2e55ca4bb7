import assert from 'node:assert/strict'
import type { RecordQuery } from '../../contract/store.ts'
import { sampleBegin, sampleEnd } from './sample-records.ts'
import type { Checks } from './store-under-test.ts'
import { assertLinked, note, read } from './read-back.ts'

export const queryChecks: Checks = {
  'finds records by session, call, kind and place': async ({ store }) => {
    await store.append([sampleBegin('a'), sampleBegin('b', { session: 'session_2' }), sampleEnd('a')])
    await store.append([note('a'), sampleBegin('c', { tenant: 'other' })])
    const found = (query: RecordQuery): string[] =>
      read(store, query).map(({ tenant, sequence, kind, call }) => `${tenant} ${sequence} ${kind} ${call}`)
    assert.deepEqual(found({ call: 'a' }), ['local 1 begin a', 'local 3 end a', 'local 4 note a'])
    assert.deepEqual(found({ session: 'session_2' }), ['local 2 begin b'])
    assert.deepEqual(found({ kind: 'begin' }), ['local 1 begin a', 'local 2 begin b', 'other 1 begin c'])
    assert.deepEqual(found({ tenant: 'local', after: 2, limit: 1 }), ['local 3 end a'])
    assert.deepEqual(found({ newestFirst: true, limit: 2 }), ['other 1 begin c', 'local 4 note a'])
    assert.deepEqual(found({ tenant: 'nobody' }), [])
  },

  'goes through more records than fit in one look, while more come': async ({ store }) => {
    for (let i = 0; i < 30; i++)
      await store.append(Array.from({ length: 50 }, (_, index) => sampleBegin(`call_${i}_${index}`)))
    let seen = 0
    for (const record of store.records({})) {
      assert.equal(record.sequence, ++seen)
      if (seen <= 1500) void store.append([note(record.call)])
      if (seen === 1500) break
    }
    await store.append([sampleBegin('last')])
    assert.equal(read(store, { kind: 'begin' }).length, 1501)
    assert.equal(read(store, { newestFirst: true, kind: 'begin' })[0]?.call, 'last')
    assertLinked(read(store, {}))
  },
}
