import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import type { KeyClaim, Store } from '../../contract/store.ts'
import { sampleBegin, sampleEnd, sampleResult } from './sample-records.ts'
import type { Checks } from './store-under-test.ts'
import { note, use } from './read-back.ts'

/** The begin of the call `a`, as this process writes it. */
const begun = (store: Store) => sampleBegin('a', { idempotencyKey: 'k', writer: store.writer })

function assertEnded(held: KeyClaim | undefined, result: string): void {
  assert.equal(held?.state, 'ended')
  assert.deepEqual(held.state === 'ended' && [held.call, held.result], ['a', result])
}

export const keyChecks: Checks = {
  'gives a key to one call and its result to the next (CALL-4)': async ({ store }) => {
    assert.deepEqual(store.claimKey(use('a')), { state: 'claimed' })
    assert.deepEqual(store.claimKey(use('b')), { state: 'running', call: 'a' })
    await store.append([begun(store)])
    assert.deepEqual(store.claimKey(use('b')), { state: 'running', call: 'a' })
    void store.append([sampleEnd('a')])
    const { record, body } = begun(store)
    const begin = { text: JSON.stringify(record), body }
    assert.deepEqual(store.claimKey(use('b')), { state: 'ended', call: 'a', begin, result: sampleResult })
    assert.deepEqual(store.findKey(use('b')), { state: 'ended', call: 'a', begin, result: sampleResult })
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
    await store.append([begun(store), sampleEnd('a', { outcome: 'failed' })])
    assertEnded(store.claimKey(use('b')), sampleResult)
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
    assertEnded(store.findKey(use('c', { key: 'a' })), resolution.result)
    assert.equal(store.claimKey(use('c', { key: 'a', inputDigest: 'other' })).state, 'conflict')
    assert.equal(store.findKey(use('c', { key: 'b' })), undefined)
    assert.deepEqual(store.claimKey(use('c', { key: 'b' })), { state: 'claimed' })
  },

  'frees a key together with the end of a call that did nothing (CALL-4)': async ({ store }) => {
    store.claimKey(use('a'))
    await store.append([begun(store)])
    await store.append([sampleEnd('a', { outcome: 'aborted' })], {
      resolve: [{ tenant: 'local', call: 'a', outcome: 'not_happened', result: '' }],
    })
    assert.equal(store.findKey(use('b')), undefined)
    assert.deepEqual(store.claimKey(use('b', { inputDigest: 'other' })), { state: 'claimed' })
  },

  'resolves calls of the tenant that is named only (AUTH-6)': async ({ store }) => {
    store.claimKey(use('a'))
    await store.append([sampleBegin('a', { writer: store.writer }), sampleEnd('a', { outcome: 'unknown' })])
    await store.append([], {
      resolve: [{ tenant: 'other', call: 'a', outcome: 'not_happened', result: '{}' }],
    })
    assert.equal(store.claimKey(use('b')).state, 'unknown')
  },

  'names texts by digests that are its own (CALL-4)': async ({ store, reopen, openBeside }) => {
    const digest = store.digest('{"pin":"1234"}')
    assert.match(digest, /^[A-Za-z0-9_-]{43}$/)
    assert.equal(store.digest('{"pin":"1234"}'), digest)
    assert.notEqual(store.digest('{"pin":"1235"}'), digest)
    assert.notEqual(digest, createHash('sha256').update('{"pin":"1234"}').digest('base64url'))
    if (openBeside !== undefined) {
      const beside = await openBeside()
      assert.equal(beside.digest('{"pin":"1234"}'), digest)
    }
    if (reopen !== undefined) assert.equal((await reopen()).digest('{"pin":"1234"}'), digest)
  },
}
