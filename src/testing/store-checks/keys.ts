import assert from 'node:assert/strict'
import { sampleBegin, sampleEnd, sampleResult } from '../sample-records.ts'
import type { Checks } from '../store-under-test.ts'
import { assertRefused, note, use } from './read-back.ts'

export const keyChecks: Checks = {
  'gives a key to one call and its result to the next (CALL-4)': async ({ store }) => {
    assert.deepEqual(store.claimKey(use('a')), { state: 'claimed' })
    assert.deepEqual(store.claimKey(use('b')), { state: 'running', call: 'a' })
    await store.append([sampleBegin('a', { idempotencyKey: 'k', writer: store.writer })])
    assert.deepEqual(store.claimKey(use('b')), { state: 'running', call: 'a' })
    void store.append([sampleEnd('a')])
    assert.deepEqual(store.claimKey(use('b')), { state: 'ended', call: 'a', result: sampleResult })
  },

  'refuses a key for another input, running or ended (CALL-4)': async ({ store }) => {
    store.claimKey(use('a'))
    assert.deepEqual(store.claimKey(use('b', { inputDigest: 'other' })), { state: 'conflict', call: 'a' })
    await store.append([sampleBegin('a', { writer: store.writer }), sampleEnd('a')])
    assert.deepEqual(store.claimKey(use('b', { inputDigest: 'other' })), { state: 'conflict', call: 'a' })
  },

  'keeps keys of tenants and tools apart (CALL-4)': async ({ store }) => {
    for (const fields of [{}, { tenant: 'other' }, { tool: 'code.write_file' }, { key: 'k2' }])
      assert.deepEqual(store.claimKey(use(`call ${JSON.stringify(fields)}`, fields)), { state: 'claimed' })
  },

  'frees a key after its window, never while its call runs': async ({ store }) => {
    store.claimKey(use('a'))
    assert.deepEqual(store.claimKey(use('b', { at: 2000 })), { state: 'running', call: 'a' })
    await store.append([sampleBegin('a', { writer: store.writer }), sampleEnd('a')])
    assert.equal(store.claimKey(use('b', { at: 1099 })).state, 'ended')
    assert.deepEqual(store.claimKey(use('b', { at: 1100, inputDigest: 'other' })), { state: 'claimed' })
    assert.deepEqual(store.claimKey(use('c', { at: 1100, inputDigest: 'other' })), {
      state: 'running',
      call: 'b',
    })
  },

  'says that the outcome of a call is unknown instead of running it again': async ({ store }) => {
    store.claimKey(use('a'))
    await store.append([sampleBegin('a', { writer: store.writer }), sampleEnd('a', { outcome: 'unknown' })])
    assert.deepEqual(store.claimKey(use('b')), { state: 'unknown', call: 'a' })
  },

  'gives the outcome of a call that failed (CALL-4)': async ({ store }) => {
    store.claimKey(use('a'))
    await store.append([sampleBegin('a', { writer: store.writer }), sampleEnd('a', { outcome: 'failed' })])
    assert.deepEqual(store.claimKey(use('b')), { state: 'ended', call: 'a', result: sampleResult })
  },

  'keeps the outcome of a call that ended before it took its key (CALL-4)': async ({ store }) => {
    const records = [sampleBegin('a', { writer: store.writer }), sampleEnd('a', { outcome: 'denied' })]
    await store.append(records, { keep: [use('a')] })
    const ended = { state: 'ended', call: 'a', result: sampleResult }
    assert.deepEqual(store.findKey(use('b')), ended)
    assert.deepEqual(store.claimKey(use('b')), ended)
    assert.deepEqual(store.claimKey(use('b', { inputDigest: 'other' })), { state: 'conflict', call: 'a' })
    assert.deepEqual(store.claimKey(use('b', { at: 1100 })), { state: 'claimed' })
  },

  'leaves a key to the call that has it (CALL-4)': async ({ store }) => {
    store.claimKey(use('a'))
    const denied = [sampleBegin('b', { writer: store.writer }), sampleEnd('b', { outcome: 'denied' })]
    await store.append(denied, { keep: [use('b')] })
    assert.deepEqual(store.claimKey(use('c')), { state: 'running', call: 'a' })
    await store.append([sampleBegin('a', { writer: store.writer }), sampleEnd('a')])
    assert.equal(store.claimKey(use('c')).state, 'ended')
  },

  'takes no key where the end is refused (CALL-4)': async ({ store }) => {
    await assertRefused(store.append([sampleEnd('a')], { keep: [use('a')] }))
    assert.equal(store.findKey(use('b')), undefined)
  },

  'gives the result that a person found, or the key, after an unknown outcome (CALL-4)': async ({
    store,
  }) => {
    for (const call of ['a', 'b']) {
      store.claimKey(use(call, { key: call }))
      await store.append([
        sampleBegin(call, { writer: store.writer }),
        sampleEnd(call, { outcome: 'unknown' }),
      ])
    }
    const resolution = { tenant: 'local', result: '{"ok":true,"found":1}' }
    await store.append([note('a')], {
      resolve: [
        { ...resolution, call: 'a', outcome: 'happened' },
        { ...resolution, call: 'b', outcome: 'not_happened' },
        { ...resolution, call: 'nobody', outcome: 'happened' },
      ],
    })
    assert.deepEqual(store.findKey(use('c', { key: 'a' })), {
      state: 'ended',
      call: 'a',
      result: resolution.result,
    })
    assert.equal(store.claimKey(use('c', { key: 'a', inputDigest: 'other' })).state, 'conflict')
    assert.equal(store.findKey(use('c', { key: 'b' })), undefined)
    assert.deepEqual(store.claimKey(use('c', { key: 'b' })), { state: 'claimed' })
  },

  'resolves calls of the tenant that is named only (AUTH-6)': async ({ store }) => {
    store.claimKey(use('a'))
    await store.append([sampleBegin('a', { writer: store.writer }), sampleEnd('a', { outcome: 'unknown' })])
    await store.append([], {
      resolve: [{ tenant: 'other', call: 'a', outcome: 'not_happened', result: '{}' }],
    })
    assert.equal(store.claimKey(use('b')).state, 'unknown')
  },
}
