import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { CheckpointRecord } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import { chainLink } from '../../kit/json/digest.ts'
import { createMemoryStore } from '../../stores/memory/create-memory-store.ts'
import { openSqliteStore } from '../../stores/sqlite/open-sqlite-store.ts'
import { sampleBegin, sampleEnd } from '../../testing/store-checks/sample-records.ts'
import { addCheckpoint } from './add-checkpoint.ts'
import { createSignedStore } from './create-signed-store.ts'
import { openKeyFiles } from './key-files.ts'
import { rotateKey } from './rotate-key.ts'
import { verifyEvidence } from './verify-evidence.ts'

const now = (): number => 1_763_667_600_500

function makeFolder(): string {
  const directory = mkdtempSync(join(tmpdir(), 'handrail-keys-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  return directory
}

/** A store in a file to look at, a folder for its keys, and other processes that write to it, signing every `every` records. */
async function openSigned(every = 1000) {
  const directory = makeFolder()
  const path = join(directory, 'store.db')
  const store = await openSqliteStore({ path })
  onTestFinished(() => store.close())
  const keys = openKeyFiles(join(directory, 'keys'))
  const errors: unknown[] = []
  const onError = (error: unknown): void => void errors.push(error)
  const open = async () => createSignedStore(await openSqliteStore({ path }), { keys, now, every, onError })
  /** A process that makes these calls and ends. */
  const run = async (...calls: string[]): Promise<void> => {
    const writing = await open()
    await writeCalls(writing, ...calls)
    await writing.close()
  }
  const tamper = (change: (db: DatabaseSync) => void): void => {
    const db = new DatabaseSync(path)
    change(db)
    db.close()
  }
  return { store, keys, errors, open, run, tamper }
}

async function writeCalls(store: Pick<Store, 'append'>, ...calls: string[]): Promise<void> {
  for (const call of calls) await store.append([sampleBegin(call), sampleEnd(call)])
}

function checkpointsOf(store: Store): CheckpointRecord[] {
  return [...store.records({ kind: 'checkpoint' })].map(({ text }) => JSON.parse(text) as CheckpointRecord)
}

test('signs every so many records behind the calls, and what is left at the end (EVID-7)', async () => {
  const { store, keys, open } = await openSigned(4)
  const writing = await open()
  await writeCalls(writing, 'a', 'b', 'c')
  while (checkpointsOf(store).length === 0) await setImmediate()
  await writeCalls(writing, 'd')
  await writing.close()
  expect(checkpointsOf(store)).toHaveLength(2)
  const [first, last] = checkpointsOf(store)
  expect(first?.sequence).toBeGreaterThanOrEqual(4)
  expect(last?.sequence).toBe(9)
  const key = keys.signingKey().id
  expect(verifyEvidence(store, { keys })).toEqual({
    ok: true,
    records: 10,
    calls: 4,
    signed: { records: 10, pending: 0, keys: [key] },
  })
  await writeCalls(store, 'e')
  expect(verifyEvidence(store, { keys }).signed).toEqual({ records: 10, pending: 2, keys: [key] })
  expect(verifyEvidence(store)).toEqual({ ok: true, records: 12, calls: 5 })
})

test('signs a record some time after it was written at the latest (EVID-7)', async () => {
  const { store, keys } = await openSigned()
  const writing = createSignedStore(store, {
    keys,
    now,
    everyMs: 1,
    onError: (error) => expect(error).toBe('none'),
  })
  for (const call of ['a', 'b']) {
    await writeCalls(writing, call)
    const before = checkpointsOf(store).length
    while (checkpointsOf(store).length === before) await setImmediate()
  }
  expect(verifyEvidence(store, { keys }).signed).toMatchObject({ pending: 0 })
})

test('signs nothing where nothing was written, and each tenant for itself', async () => {
  const { store, keys, open, run } = await openSigned()
  await run()
  expect(checkpointsOf(store)).toEqual([])
  expect(readdirSync(join(keys.dir, '..'))).not.toContain('keys')
  const writing = await open()
  const other = { tenant: 'other' }
  await writing.append([sampleBegin('x', other), sampleEnd('x', other), sampleBegin('a'), sampleEnd('a')])
  await writing.close()
  expect(checkpointsOf(store).map(({ tenant, sequence }) => [tenant, sequence])).toEqual([
    ['local', 2],
    ['other', 2],
  ])
})

test('keeps the key for its owner, and signs with none that others can read', async () => {
  const { store, keys, errors, run } = await openSigned()
  await run('a')
  const path = join(keys.dir, 'signing.key')
  expect([statSync(path).mode & 0o777, statSync(keys.dir).mode & 0o777]).toEqual([0o600, 0o700])
  chmodSync(path, 0o644)
  await run('b')
  expect(String(errors)).toContain(`The signing key "${path}" is open to others`)
  expect(verifyEvidence(store, { keys }).signed).toMatchObject({ records: 3, pending: 2 })
})

test('an old key signs the new one in; its signatures hold for ever (EVID-7)', async () => {
  const { store, keys, run } = await openSigned()
  await run('a')
  const secret = readFileSync(join(keys.dir, 'signing.key'), 'utf8')
  const { old, new: next } = await rotateKey({ store, keys, at: now(), actor: 'ada' })
  expect(readFileSync(join(keys.dir, 'signing.key'), 'utf8')).not.toBe(secret)
  const [note] = store.records({ kind: 'note' })
  expect(JSON.parse(note?.text ?? '')).toMatchObject({
    event: 'key_rotated',
    actor: 'ada',
    data: { old, new: next },
  })
  expect(checkpointsOf(store).at(-1)).toMatchObject({ key: old, sequence: note?.sequence })

  await run('b')
  expect([...store.records({ kind: 'note' })]).toHaveLength(1)
  expect(checkpointsOf(store).at(-1)?.key).toBe(next)
  const found = verifyEvidence(store, { keys })
  expect(found).toMatchObject({ ok: true, signed: { pending: 0, keys: [old, next].sort() } })
})

/** Changes a record and everything after it so that the chain holds again, heads too. */
function rewrite(db: DatabaseSync, change: (text: string) => string): void {
  const rows = db.prepare('SELECT position, text FROM records ORDER BY sequence').all()
  let hash = ''
  for (const { position, text } of rows) {
    const changed = change(String(text))
    hash = chainLink(hash, changed)
    db.prepare('UPDATE records SET text = ?, hash = ? WHERE position = ?').run(
      changed,
      Buffer.from(hash, 'hex'),
      Number(position),
    )
  }
  db.prepare('UPDATE heads SET hash = ?').run(Buffer.from(hash, 'hex'))
}

const noActor = (text: string): string => text.replace('"actor":"user"', '"actor":"eve"')

test('somebody who rewrites the whole file, heads too, is found by the signatures (EVID-7)', async () => {
  const { store, keys, run, tamper } = await openSigned()
  for (const calls of [['a'], ['b', 'c']]) {
    await run(...calls)
  }
  tamper((db) => rewrite(db, noActor))
  expect(verifyEvidence(store)).toMatchObject({ ok: false, issue: { problem: 'bad_signature' } })
  const issue = { problem: 'bad_signature', sequence: 3 }
  expect(verifyEvidence(store, { keys })).toMatchObject({ ok: false, issue })
})

test('a checkpoint that somebody signed with a key of his own, or patched up, is found (EVID-7)', async () => {
  const { store, keys, run, tamper } = await openSigned()
  await run('a')
  const foreign = openKeyFiles(makeFolder())
  await addCheckpoint({ store, keys: foreign, tenant: 'local', at: now() })
  const found = verifyEvidence(store, { keys })
  expect(found).toMatchObject({ ok: false, issue: { problem: 'bad_signature', sequence: 4 } })
  expect(found.issue?.message).toContain(`the key "${foreign.signingKey().id}", which is not known here`)

  const id = keys.signingKey().id
  tamper((db) => rewrite(db, (text) => text.replace(foreign.signingKey().id, id)))
  const patched = verifyEvidence(store, { keys })
  expect(patched.issue).toMatchObject({ problem: 'bad_signature', sequence: 4 })
  expect(patched.issue?.message).toContain(`does not have the signature of the key "${id}"`)
})

test('a store without its checkpoints, set back, or gone is found by the last one that was signed (EVID-7)', async () => {
  const { store, keys, run, tamper } = await openSigned()
  for (const call of ['a', 'b']) {
    await run(call)
  }
  const setBack =
    'DELETE FROM records WHERE sequence > 3; UPDATE heads SET (sequence, hash) = (SELECT sequence, hash FROM records WHERE sequence = 3)'
  tamper((db) => db.exec(setBack))
  expect(verifyEvidence(store)).toMatchObject({ ok: false, records: 3, issue: { problem: 'forged' } })
  const found = verifyEvidence(store, { keys })
  expect(found.issue).toMatchObject({ problem: 'truncated', sequence: 4 })
  expect(found.issue?.message).toBe(
    'The chain ends at 3, and a signature says that it ends at 5: records were cut off or added.',
  )
  // Nothing goes on from there, and what was put in its place gets no signature.
  await expect(run('c')).rejects.toMatchObject({ reason: 'store_read_only' })

  tamper((db) => db.exec('DELETE FROM records; DELETE FROM heads'))
  expect(verifyEvidence(store)).toEqual({ ok: true, records: 0, calls: 0 })
  expect(verifyEvidence(store, { keys }).issue).toMatchObject({
    tenant: 'local',
    problem: 'truncated',
    sequence: 1,
  })
})

test('signs in memory too, where nothing is remembered after the process', async () => {
  const store = createMemoryStore({ maxRecords: 5 })
  const keys = openKeyFiles(makeFolder())
  const writing = createSignedStore(store, { keys, now, onError: (error) => expect(error).toBeUndefined() })
  await writeCalls(writing, 'a', 'b', 'c')
  await writing.close()
  expect(verifyEvidence(store, { keys })).toMatchObject({
    ok: true,
    records: 5,
    signed: { records: 5, pending: 0 },
  })
  expect(keys.anchors()).toEqual([])
})
