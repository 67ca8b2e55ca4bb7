import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, onTestFinished, test, vi } from 'vitest'
import type { StoredRecord } from '../../../contract/evidence.ts'
import type { Entry, Store } from '../../../contract/store.ts'
import { verifyEvidence } from '../../../evidence/chain/verify-evidence.ts'
import { digest } from '../../../kit/json/digest.ts'
import { sampleBegin, sampleEnd } from '../../../testing/store-checks/sample-records.ts'
import { openDatabase } from '../open-database.ts'
import { openSqliteStore } from '../open-sqlite-store.ts'
import { answersOf, someCalls, start, usual } from '../summaries/many-records.fixture.ts'
import { inFile, openStore, tempPath } from '../summaries/open-file.fixture.ts'
import { unpack } from '../packs/pack.ts'
import { createPacking } from './packing.ts'

/** Packs all that is due, as another process does. Returns how many packs there are then. */
async function pack(path: string): Promise<unknown> {
  const db = await openDatabase(path, 0)
  const { packOne } = createPacking({ db, busyTimeoutMs: 0, mayWrite: () => true })
  while (packOne());
  db.close()
  return countPacks(path)
}

function countPacks(path: string): unknown {
  return inFile(path, (db) => db.prepare('SELECT count(*) AS count FROM packs').get()?.['count'])
}

/** No store makes packs by itself in this test, however long it takes. */
function holdUpkeep(): void {
  vi.useFakeTimers({ toFake: ['setInterval'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** The store at this path, which makes packs only on its way out. */
function openStill(path: string): Promise<Store> {
  holdUpkeep()
  return openStore(path)
}

/** Records enough for four packs. */
const few = [...someCalls(0, 800), ...someCalls(0, 20, 'other')]

let made: Promise<string> | undefined

/** A file with many records that are packed, which is copied and not changed. */
function packed(): Promise<string> {
  return (made ??= (async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'handrail-packing-')), 'store.db')
    const store = await openSqliteStore({ path })
    await store.append(few)
    await store.close()
    await pack(path)
    return path
  })())
}

async function copyOfPacked(): Promise<string> {
  const path = await tempPath()
  await cp(dirname(await packed()), dirname(path), { recursive: true })
  return path
}

afterAll(async () => {
  if (made !== undefined) await rm(dirname(await made), { recursive: true })
})

/** Calls in a session with an id of its own, with what their bodies say. */
function callsSaying(count: number, say: () => string, tenant = 'local'): Entry[] {
  return Array.from({ length: count }, (_, index) => `${tenant}_said_${index}`).flatMap((call) => {
    const body = JSON.stringify({ text: say() })
    return [
      { ...sampleBegin(call, { tenant, session: 'thread', input: digest(body) }), body },
      { ...sampleEnd(call, { tenant, session: 'thread', result: digest(body) }), body },
    ]
  })
}

test('packed records are read as they were written, by place, call, session and whatever else is asked', async () => {
  const path = await tempPath()
  const store = await openStill(path)
  await store.append([...usual, ...callsSaying(1000, () => 'é"\\ \u2028 𝄞', 'acme')])
  const whole = (): StoredRecord[] => [...store.records({})]
  const asked = ['local_5', 'local_3100', 'acme_said_9', 'none'] as const
  const answers = () => ({
    calls: asked.map((call) => [...store.records({ call })]),
    ofThread: [...store.records({ tenant: 'acme', session: 'thread', before: 400 })],
    newest: [...store.records({ newestFirst: true, limit: 1500 })],
  })
  const [before, answersBefore, foundBefore] = [whole(), answers(), answersOf(store)]
  expect(await pack(path)).toBe(42 + 7)
  expect([whole(), answers()]).toEqual([before, answersBefore])
  expect(answersOf(store)).toEqual(foundBefore)
  // Summaries are made of packed records too.
  inFile(path, (db) => db.exec('DELETE FROM summaries'))
  expect(answersOf(await openStill(path))).toEqual(foundBefore)
  expect(verifyEvidence(store)).toMatchObject({ ok: true, records: before.length })
  // The newest are left as they are.
  const left = inFile(path, (db) =>
    db.prepare('SELECT tenant, count(*) AS count FROM records WHERE packed IS NULL GROUP BY tenant').all(),
  )
  expect(left.map((row) => ({ ...row }))).toEqual([
    { tenant: 'acme', count: 2000 - 7 * 128 },
    { tenant: 'local', count: 6400 - 42 * 128 },
    { tenant: 'other', count: 40 },
  ])
})

test('a file needs far fewer of its pages when it is packed, and uses the others again', async () => {
  const path = await tempPath()
  const store = await openStill(path)
  await store.append(usual)
  const pagesOf = (what: string): number =>
    inFile(path, (db) => Number(Object.values(db.prepare(`PRAGMA ${what}`).get() ?? {})[0]))
  const pages = pagesOf('page_count')
  await pack(path)
  expect(pagesOf('page_count') - pagesOf('freelist_count')).toBeLessThan(pages * 0.6)
  await store.append(callsSaying(1000, () => 'more'))
  expect(pagesOf('page_count')).toBeLessThan(pages * 1.05)
})

test('the process that wrote records packs them when it has nothing else to write', async () => {
  const path = await tempPath()
  const store = await openStore(path)
  await store.append(few)
  const before = [...store.records({})]
  await vi.waitFor(() => expect(countPacks(path)).toBe(4), { interval: 50 })
  expect([...store.records({})]).toEqual(before)
})

test('a process that lives for one call packs some of what others left', async () => {
  holdUpkeep()
  const path = await tempPath()
  for (const count of [1, 2]) {
    const store = await openSqliteStore({ path })
    await store.append(count === 1 ? few : callsSaying(1, () => 'one'))
    await store.close()
    expect(countPacks(path)).toBe(count)
  }
  // One that wrote nothing changes nothing.
  await (await openSqliteStore({ path })).close()
  expect(countPacks(path)).toBe(2)
})

test('a call that is packed has ended, keeps its key and its finding, and one that is open is found', async () => {
  holdUpkeep()
  const path = await tempPath()
  const first = await openSqliteStore({ path })
  const { writer } = first
  const use = {
    tenant: 'local',
    tool: 'code.read_file',
    key: 'k',
    inputDigest: 'i',
    at: start,
    windowMs: 1e9,
  }
  first.claimKey({ ...use, call: 'keyed' })
  await first.append([
    sampleBegin('keyed', { writer }),
    sampleEnd('keyed'),
    sampleBegin('open', { writer, reserved: [{ budget: 'b', account: 'b', units: 3 }] }),
    sampleBegin('cut', { writer }),
    { ...sampleEnd('cut', { outcome: 'unknown' }), body: null },
  ])
  const finding: Entry = {
    record: {
      kind: 'note',
      event: 'outcome_resolved',
      tenant: 'local',
      session: '',
      call: 'cut',
      at: start,
      message: 'It happened.',
    },
    body: null,
  }
  await first.append([finding, ...few])
  await first.close()
  await pack(path)
  const store = await openStill(path)
  const begin = { text: JSON.stringify(sampleBegin('keyed', { writer }).record), body: '{"path":"notes.md"}' }
  expect(store.findKey({ ...use, call: 'again' })).toEqual({
    state: 'ended',
    call: 'keyed',
    begin,
    result: '{"ok":true}',
  })
  await expect(store.append([sampleEnd('keyed')])).rejects.toThrow(/has ended already/)
  await expect(store.append([finding])).rejects.toThrow(/cut/)
  expect(store.orphans()).toEqual([{ tenant: 'local', call: 'open' }])
  await store.append([sampleEnd('open', { outcome: 'unknown' })])
  expect(store.orphans()).toEqual([])
})

test('what is pruned is gone from its pack and from the whole file, and the records stay (EVID-7)', async () => {
  const path = await tempPath()
  const store = await openStill(path)
  const secret = 'what may not be read any more'
  await store.append([...callsSaying(30, () => secret.repeat(20)), ...few])
  // Read before, so that all of it is remembered.
  const reader = await openStill(path)
  const bodies = (): (string | null)[] => [...reader.records({ session: 'thread' })].map(({ body }) => body)
  await pack(path)
  expect(bodies()).toEqual(Array.from({ length: 60 }, () => JSON.stringify({ text: secret.repeat(20) })))
  expect(store.prune({ tenant: 'local', at: start + 1000 })).toBe(62)
  expect(bodies()).toEqual(Array.from({ length: 60 }, () => null))
  expect(store.countPrunable({ tenant: 'local', at: start + 1000 })).toBe(0)
  expect([...store.records({ call: 'local_1' })].map(({ body }) => body)).not.toContain(null)
  expect(verifyEvidence(reader)).toMatchObject({ ok: true, withoutResult: 31 })
  await store.close()
  await reader.close()
  expect((await readFile(path)).includes(secret)).toBe(false)
  const inPacks = inFile(path, (db) => db.prepare('SELECT value FROM packs').all()).map(({ value }) =>
    JSON.stringify(unpack(value)),
  )
  expect(inPacks.map((content) => content.includes(secret))).toEqual([false, false, false, false])
  const again = await openStill(path)
  expect(again.prune({ tenant: 'local', at: start + 10_000_000 })).toBe(1598)
  expect(verifyEvidence(again)).toMatchObject({ ok: true })
  expect(countPacks(path)).toBe(4)
})

test('what a process packs after it pruned there is read, and pruned later (EVID-7)', async () => {
  const path = await tempPath()
  const store = await openStore(path)
  await store.append(someCalls(0, 60))
  expect(store.prune({ tenant: 'local', at: start + 20_000 })).toBeGreaterThan(0)
  await store.append(someCalls(60, 800))
  await vi.waitFor(() => expect(countPacks(path)).toBe(5), { interval: 50 })
  expect(verifyEvidence(store)).toMatchObject({ ok: true })
  store.prune({ tenant: 'local', at: start + 10_000_000 })
  const bodies = inFile(path, (db) => db.prepare('SELECT value FROM packs').all()).flatMap(
    ({ value }) => unpack(value)?.bodies,
  )
  expect(bodies).toEqual(bodies.map(() => null))
})

test.each([
  ['a removed row', 'DELETE FROM records WHERE sequence = 200', 'missing'],
  ['a moved row', 'UPDATE records SET sequence = 9999 WHERE sequence = 200', 'missing'],
  [
    'a row that names another call',
    `UPDATE records SET text = replace(text, 'local_', 'global_') WHERE sequence = 200`,
    'changed',
  ],
  [
    'a row that says another kind',
    `UPDATE records SET text = replace(replace(text, '"begin"', '"note"'), '"end"', '"note"') WHERE sequence = 200`,
    'changed',
  ],
  ['a row that is not packed any more', 'UPDATE records SET packed = NULL WHERE sequence = 200', 'changed'],
  ['a pack that is gone', 'DELETE FROM packs WHERE number = 1', 'changed'],
  ['bytes in place of a pack', `UPDATE packs SET value = x'00' WHERE number = 1`, 'changed'],
  [
    'another pack in its place',
    'UPDATE packs SET (hashes, value) = (SELECT hashes, value FROM packs WHERE number = 2) WHERE number = 1',
    'changed',
  ],
  ['changed hashes', 'UPDATE packs SET hashes = zeroblob(4096) WHERE number = 1', 'changed'],
  [
    'a changed body',
    `UPDATE packs SET value = changed(value, '{"path":"notes.md"}', '{"path":"other.md"}') WHERE number = 1`,
    'body_changed',
  ],
  [
    'a changed text',
    `UPDATE packs SET value = changed(value, '"code.read"', '"code.wipe"') WHERE number = 1`,
    'changed',
  ],
  ['a body that is gone from its row', 'UPDATE records SET body = NULL WHERE sequence = 200', 'body_missing'],
])('%s is found by verify, which opens nothing else for it (EVID-7)', async (_, change, problem) => {
  const path = await copyOfPacked()
  const store = await openStill(path)
  expect(verifyEvidence(store)).toMatchObject({ ok: true })
  inFile(path, (db) => {
    const { zstdCompressSync, zstdDecompressSync } = process.getBuiltinModule('node:zlib')
    db.function('changed', (value, from, to) =>
      value instanceof Uint8Array
        ? zstdCompressSync(zstdDecompressSync(value).toString().replace(String(from), String(to)))
        : null,
    )
    db.exec(change)
  })
  const { ok, issue } = verifyEvidence(store)
  expect({ ok, problem: issue?.problem }).toEqual({ ok: false, problem })
})

test('what was changed before it was packed is kept as it is, and still found (EVID-7)', async () => {
  const path = await tempPath()
  const store = await openStill(path)
  await store.append(few)
  inFile(path, (db) =>
    db.exec(`UPDATE records SET text = replace(text, '"actor_1"', '"actor_9"') WHERE sequence = 2;
      UPDATE records SET text = '{"kind":"other"}' WHERE sequence = 300; UPDATE records SET hash = x'01' WHERE sequence = 500`),
  )
  const before = [...store.records({})]
  // Two packs hold a row that Handrail did not write so, and are not made.
  expect(await pack(path)).toBe(2)
  expect([...store.records({})]).toEqual(before)
  expect(verifyEvidence(store).issue).toMatchObject({ problem: 'changed', sequence: 2 })
})

test('a stretch that is too large to be unpacked in a moment stays as it is', async () => {
  const path = await tempPath()
  const store = await openStill(path)
  const body = JSON.stringify('x'.repeat(1_100_000))
  await store.append([{ ...sampleBegin('large', { input: digest(body) }), body }, sampleEnd('large'), ...few])
  expect(await pack(path)).toBe(3)
  expect([...store.records({ call: 'large' })][0]?.body).toBe(body)
})

test('a reader goes on while another process packs what it reads', async () => {
  const path = await tempPath()
  const store = await openStill(path)
  await store.append(few)
  const before = [...store.records({ tenant: 'local' })]
  const reading = store.records({ tenant: 'local' })
  const read = [reading.next().value]
  await pack(path)
  expect([...read, ...reading]).toEqual(before)
})

test('packing does not wait for another process, nor another one for it: what one holds is packed later', async () => {
  const path = await tempPath()
  const store = await openStill(path)
  await store.append(few)
  const other = new DatabaseSync(path)
  other.exec('BEGIN IMMEDIATE')
  const before = countPacks(path)
  expect(await pack(path)).toBe(before)
  other.close()
  expect(await pack(path)).toBe(4)
})

test('a full disk in the middle of a pack leaves the records as they were', async () => {
  const path = await tempPath()
  const store = await openStill(path)
  // What cannot be made smaller needs new pages before others are free.
  await store.append([...callsSaying(64, () => randomBytes(600).toString('base64')), ...few])
  const before = [...store.records({})]
  const db = await openDatabase(path, 0)
  onTestFinished(() => db.close())
  const { packOne } = createPacking({ db, busyTimeoutMs: 0, mayWrite: () => true })
  const pages = Number(db.prepare('PRAGMA page_count').get()?.['page_count'])
  db.exec(`PRAGMA max_page_count = ${pages}`)
  expect(packOne).toThrow(/full/)
  expect([...store.records({})]).toEqual(before)
  expect(countPacks(path)).toBe(0)
  db.exec(`PRAGMA max_page_count = ${pages + 100}`)
  expect(packOne()).toBe(true)
  expect([...store.records({})]).toEqual(before)
})

test('a process that is killed in the middle of a pack leaves the records as they were', async () => {
  const path = await tempPath()
  const store = await openStill(path)
  await store.append(few)
  const before = [...store.records({})]
  const moduleAt = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href)
  const program = `
    const { openDatabase } = await import(${moduleAt('../open-database.ts')})
    const { createPacking } = await import(${moduleAt('packing.ts')})
    const db = await openDatabase(${JSON.stringify(path)}, 0)
    db.function('die', () => process.kill(process.pid, 'SIGKILL'))
    db.exec('CREATE TEMP TRIGGER dies AFTER INSERT ON main.records WHEN new.sequence = 200 BEGIN SELECT die(); END')
    const { packOne } = createPacking({ db, busyTimeoutMs: 0, mayWrite: () => true })
    while (packOne());`
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', program]).signal).toBe('SIGKILL')
  expect(countPacks(path)).toBe(1)
  expect([...store.records({})]).toEqual(before)
  expect(verifyEvidence(store)).toMatchObject({ ok: true })
  expect(await pack(path)).toBe(4)
  expect([...store.records({})]).toEqual(before)
})
