import assert from 'node:assert/strict'
import { sampleBegin, sampleEnd } from './sample-records.ts'
import type { Checks } from './store-under-test.ts'
import { assertLinked, assertRefused, finding, kinds, note, read } from './read-back.ts'

export const chainChecks: Checks = {
  'counts up and links the records of each tenant': async ({ store }) => {
    await store.append([sampleBegin('a'), sampleBegin('b', { tenant: 'other' })])
    await store.append([sampleEnd('a'), sampleEnd('b', { tenant: 'other' })])
    for (const tenant of ['local', 'other']) {
      const records = read(store, { tenant })
      assert.deepEqual(
        records.map(({ sequence, kind }) => [sequence, kind]),
        [
          [1, 'begin'],
          [2, 'end'],
        ],
      )
      assertLinked(records)
      const { sequence, hash } = store.head(tenant) ?? {}
      assert.deepEqual({ sequence, hash }, { sequence: 2, hash: records[1]?.hash })
    }
    assert.deepEqual(store.tenants(), ['local', 'other'])
    assert.equal(store.head('nobody'), undefined)
  },

  'keeps the entries of one append together while others append': async ({ store }) => {
    const calls = Array.from({ length: 50 }, (_, index) => `call_${index}`)
    await Promise.all(calls.map(async (call) => store.append([sampleBegin(call), sampleEnd(call)])))
    const records = read(store, {})
    assert.equal(records.length, 100)
    for (let i = 0; i < 100; i += 2) assert.equal(records[i]?.call, records[i + 1]?.call)
    assertLinked(records)
  },

  'keeps the text of a record and its body letter by letter': async ({ store }) => {
    const begin = sampleBegin('a', { actor: 'zero \0, half \ud800, smile 😀, "quote"' })
    const body = JSON.stringify({ text: 'zero \0, smile 😀, line\u2028' })
    const text = JSON.stringify(begin.record)
    const written = store.append([{ record: begin.record, body }])
    begin.record.actor = 'changed later'
    await written
    const [record] = read(store, {})
    assert.deepEqual([record?.text, record?.body], [text, body])
  },

  'refuses an end without a begin, and a second end (EVID-1)': async ({ store }) => {
    await assertRefused(store.append([sampleEnd('a')]))
    await store.append([sampleBegin('a')])
    await store.append([sampleEnd('a')])
    await assertRefused(store.append([sampleEnd('a')]))
    await assertRefused(store.append([sampleBegin('b'), sampleEnd('b'), sampleEnd('b')]))
    assert.deepEqual(kinds(store), ['begin', 'end'])
  },

  'refuses a second finding about the outcome of a call, also of another process (CALL-4)': async ({
    store,
    openBeside,
  }) => {
    const other = openBeside === undefined ? store : await openBeside()
    await store.append([sampleBegin('a'), sampleEnd('a', { outcome: 'unknown' })])
    const outcomes = await Promise.allSettled([store.append([finding('a')]), other.append([finding('a')])])
    assert.deepEqual(outcomes.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
    await assertRefused(other.append([finding('b'), finding('b')]))
    await other.append([note('a'), finding('b')])
    assert.deepEqual(kinds(store), ['begin', 'end', 'note', 'note', 'note'])
  },

  'writes all of an append or nothing of it (CALL-3)': async ({ store }) => {
    await assertRefused(store.append([sampleBegin('a'), sampleEnd('stray'), sampleEnd('a')]))
    assert.deepEqual(kinds(store), [])
  },

  'does not lose an append because of its neighbour': async ({ store }) => {
    const outcomes = await Promise.allSettled([
      store.append([sampleBegin('a')]),
      store.append([sampleEnd('stray')]),
      store.append([sampleBegin('b')]),
      store.append([sampleEnd('a')]),
    ])
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
    )
    assert.deepEqual(
      read(store, {}).map(({ call }) => call),
      ['a', 'b', 'a'],
    )
    assertLinked(read(store, {}))
  },
}
