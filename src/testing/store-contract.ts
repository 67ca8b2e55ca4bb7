import assert from 'node:assert/strict'
import { ToolFailure } from '../contract/errors.ts'
import type { StoredRecord } from '../contract/evidence.ts'
import type { KeyUse, RecordQuery, Store } from '../contract/store.ts'
import { chainLink } from '../kit/digest.ts'
import { sampleBegin, sampleEnd, sampleResult } from './sample-records.ts'

/** A store under test. */
export interface StoreUnderTest {
  store: Store
  /** Closes the store and opens it again as another process would. Absent where nothing survives. */
  reopen?: () => Promise<Store>
  /** Closes what is open and removes what is left. */
  dispose: () => Promise<void>
}

/** Declares one test; the `test` of vitest, `node:test` and others fit. */
export type DeclareTest = (title: string, run: () => Promise<void>) => unknown

/** Declares the tests that every store must pass. `open` gives an empty store each time. */
export function storeContract(
  name: string,
  open: () => Promise<StoreUnderTest>,
  { test }: { test: DeclareTest },
): void {
  for (const [title, check] of Object.entries({
    ...chainChecks,
    ...queryChecks,
    ...keyChecks,
    ...lifeChecks,
  }))
    test(`${name}: ${title}`, async () => {
      const subject = await open()
      try {
        await check(subject)
      } finally {
        await subject.dispose()
      }
    })
}

type Checks = { readonly [title: string]: (subject: StoreUnderTest) => Promise<void> }

const chainChecks: Checks = {
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
      assert.deepEqual(store.head(tenant), { sequence: 2, hash: records[1]?.hash })
    }
    assert.deepEqual(store.tenants(), ['local', 'other'])
    assert.equal(store.head('nobody'), undefined)
  },

  'keeps the entries of one append together while others append': async ({ store }) => {
    const calls = Array.from({ length: 50 }, (_, index) => `call_${index}`)
    await Promise.all(calls.map((call) => store.append([sampleBegin(call), sampleEnd(call)])))
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

const queryChecks: Checks = {
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

const keyChecks: Checks = {
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
}

const lifeChecks: Checks = {
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
}

function use(call: string, fields: Partial<KeyUse> = {}): KeyUse {
  return {
    tenant: 'local',
    tool: 'code.read_file',
    key: 'k',
    inputDigest: 'input',
    call,
    at: 100,
    windowMs: 1000,
    ...fields,
  }
}

function note(call: string): Parameters<Store['append']>[0][number] {
  const about = { tenant: 'local', session: 'session_1', call, at: 1, message: 'the callback failed' }
  return { record: { kind: 'note', event: 'permission_failed', ...about }, body: null }
}

function read(store: Store, query: RecordQuery): StoredRecord[] {
  return [...store.records(query)]
}

function kinds(store: Store): string[] {
  return read(store, {}).map(({ kind }) => kind)
}

function assertLinked(records: readonly StoredRecord[]): void {
  let previous = ''
  for (const { text, hash } of records) assert.equal(hash, (previous = chainLink(previous, text)))
}

async function assertRefused(written: Promise<void>): Promise<void> {
  await assert.rejects(written, (error) => error instanceof ToolFailure && error.reason === 'store_failed')
}
