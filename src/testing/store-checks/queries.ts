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

  'finds records by tool, actor, outcome, event and time, and counts ends by time': async ({ store }) => {
    const at = (ms: number) => 1_763_667_600_000 + ms
    await store.append([
      sampleBegin('a', { at: at(0) }),
      sampleBegin('b', { actor: 'ann', tool: 'web.[get]', at: at(1) }),
      sampleEnd('a', { at: at(2), durationMs: 12_345 }),
      sampleEnd('b', { tool: 'web.[get]', at: at(3), outcome: 'denied', durationMs: 99 }),
      sampleBegin('c', { at: at(4) }),
      sampleEnd('c', { at: at(5), durationMs: 12_000 }),
      note('c'),
    ])
    const found = (query: RecordQuery): string[] =>
      read(store, query).map(({ sequence, kind, call }) => `${sequence} ${kind} ${call}`)
    assert.deepEqual(found({ tool: 'web.[g*' }), ['2 begin b', '4 end b'])
    assert.deepEqual(found({ kind: 'begin', tool: 'code.*', newestFirst: true }), ['5 begin c', '1 begin a'])
    assert.deepEqual(found({ kind: 'begin', tool: 'CODE.*' }), [])
    assert.deepEqual(found({ kind: 'begin', actor: 'ann', tool: '*' }), ['2 begin b'])
    assert.deepEqual(found({ kind: 'end', outcome: 'denied' }), ['4 end b'])
    assert.deepEqual(found({ kind: 'end', outcome: 'ok', before: 6 }), ['3 end a'])
    assert.deepEqual(found({ kind: 'end', outcome: 'failed' }), [])
    assert.deepEqual(found({ call: 'b', outcome: 'denied' }), ['4 end b'])
    assert.deepEqual(found({ kind: 'begin', since: at(1), session: 'session_1' }), ['2 begin b', '5 begin c'])
    assert.deepEqual(found({ since: at(6) }), [])
    assert.deepEqual(found({ until: at(0), since: at(-1) }), [])
    assert.deepEqual(found({ until: at(3), since: at(0), newestFirst: true, limit: 1 }), ['3 end a'])
    assert.deepEqual(found({ kind: 'end', since: at(2), until: at(5) }), ['3 end a', '4 end b'])
    assert.deepEqual(found({ call: 'c', since: at(0), until: at(5) }), ['5 begin c'])
    assert.deepEqual(found({ kind: 'note', event: 'permission_failed' }), ['7 note c'])
    assert.deepEqual(found({ event: 'outcome_resolved' }), [])
    const count = (since: number, until: number, place = {}) =>
      store
        .countEnds({ tenant: 'local', since: at(since), until: at(until), ...place })
        .toSorted((one, other) => one.durationMs - other.durationMs)
    const code = { tool: 'code.read_file', outcome: 'ok', durationMs: 12_000 }
    const web = { tool: 'web.[get]', outcome: 'denied', durationMs: 99, calls: 1 }
    assert.deepEqual(count(0, 6), [web, { ...code, calls: 2 }])
    assert.deepEqual(count(2, 3), [{ ...code, calls: 1 }])
    assert.deepEqual(count(3, 5), [web])
    assert.deepEqual(count(0, 6, { after: 3, before: 6 }), [web])
    assert.deepEqual(found({ open: true }), [])
    await store.append([sampleBegin('d'), sampleBegin('e'), sampleEnd('d')])
    assert.deepEqual(found({ open: true }), ['9 begin e'])
    assert.deepEqual(found({ kind: 'end', open: true }), [])
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
