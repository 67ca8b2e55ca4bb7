import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test, vi } from 'vitest'
import { verifyEvidence } from '../../../evidence/chain/verify-evidence.ts'
import { createMemoryStore } from '../../memory/create-memory-store.ts'
import { openSqliteStore } from '../open-sqlite-store.ts'
import { createSealer } from '../seals/sealer.ts'
import { answersInMemory, answersOf, someCalls, start, usual } from './many-records.fixture.ts'
import { inFile, openStore, tempPath } from './open-file.fixture.ts'
import { createSummaries } from './summaries.ts'
import { recordsPerSummary } from './summary.ts'

let made: Promise<string> | undefined

/** A file with the usual records and their summaries, which is copied and not changed. */
function summarised(): Promise<string> {
  return (made ??= (async () => {
    const directory = await mkdtemp(join(tmpdir(), 'handrail-summaries-'))
    const path = join(directory, 'store.db')
    const store = await openSqliteStore({ path })
    await store.append(usual)
    answersOf(store)
    await store.close()
    return path
  })())
}

afterAll(async () => {
  if (made !== undefined) await rm(dirname(await made), { recursive: true })
})

function countSummaries(path: string): unknown {
  return inFile(path, (db) => db.prepare('SELECT count(*) AS count FROM summaries').get()?.['count'])
}

test('a call writes no summary; what comes later writes them, and the answers are the same before, meanwhile and after', async () => {
  const path = await tempPath()
  const store = await openStore(path)
  const expected = await answersInMemory()
  await store.append(usual)
  expect(countSummaries(path)).toBe(0)
  expect(answersOf(store)).toEqual(expected)
  expect(countSummaries(path)).toBe(3)
  expect(answersOf(store)).toEqual(expected)
  for (const missing of ['number = 0', 'number = 1', 'number > 0']) {
    inFile(path, (db) => db.exec(`DELETE FROM summaries WHERE ${missing}`))
    expect(answersOf(await openStore(path))).toEqual(expected)
  }
})

test('the process that wrote records makes their summaries when it has nothing else to write', async () => {
  const path = await tempPath()
  const store = await openStore(path)
  await store.append(usual)
  await vi.waitFor(() => expect(countSummaries(path)).toBe(3), { interval: 50 })
  expect(answersOf(store)).toEqual(await answersInMemory())
})

test('a reader that may write nothing remembers what is not among the records of a part', async () => {
  const path = await tempPath()
  const store = await openStore(path)
  await store.append(usual)
  inFile(path, (db) => {
    const sealer = createSealer(randomBytes(32))
    const options = { db, sealer, busyTimeoutMs: 0, mayWrite: () => false, onDue: () => {} }
    const summaries = createSummaries(options)
    const rest = { after: 3 * 2048, before: Number.MAX_SAFE_INTEGER, summary: undefined }
    expect([...summaries.stretches({ tenant: 'local', session: 'none' })]).toEqual([rest])
    const [, ...read] = summaries.stretches({ tenant: 'local', newestFirst: true })
    expect(read.map(({ summary }) => summary)).toEqual([undefined, undefined, undefined])
  })
  expect(countSummaries(path)).toBe(0)
})

test.each([
  ['a changed value', 'UPDATE summaries SET value = zeroblob(length(value))'],
  ['a changed count of bodies', 'UPDATE summaries SET bodies = 0'],
  [
    'the summary of another part',
    'UPDATE summaries SET (bodies, seal, value) = (SELECT bodies, seal, value FROM summaries WHERE number = 2) WHERE number = 0',
  ],
  ['a changed seal', `UPDATE summaries SET seal = 'x'`],
])('%s does not count, and is made again out of the chain (EVID-7)', async (_, change) => {
  const path = await tempPath()
  await cp(dirname(await summarised()), dirname(path), { recursive: true })
  const expected = await answersInMemory()
  const contents = () =>
    inFile(path, (db) =>
      db.prepare('SELECT number, bodies, seal, hex(value) FROM summaries ORDER BY number').all(),
    )
  const before = contents()
  inFile(path, (db) => db.exec(change))
  const store = await openStore(path)
  expect(verifyEvidence(store)).toMatchObject({ ok: true })
  expect(answersOf(store)).toEqual(expected)
  expect(contents()).toEqual(before)
})

test('a store that takes no records is read without writing summaries (EVID-7)', async () => {
  const path = await tempPath()
  const first = await openStore(path)
  await first.append(usual)
  await first.close()
  inFile(path, (db) => db.exec('UPDATE heads SET sequence = sequence - 1; DELETE FROM summaries'))
  const store = await openStore(path)
  expect(store.readOnly).toBeDefined()
  expect(answersOf(store)).toEqual(await answersInMemory())
  expect(countSummaries(path)).toBe(0)
})

test('prune finds every old body, whichever process summarised it, and counts those that are gone no more', async () => {
  const path = await tempPath()
  const [store, other] = [await openStore(path), await openStore(path)]
  await store.append(usual)
  answersOf(store)
  answersOf(other)
  const at = start + 2_000_000
  const expected = createMemoryStore()
  await expected.append(usual)
  expect(other.prune({ at })).toBe(expected.prune({ at }))
  for (const each of [store, other, await openStore(path)]) {
    expect(each.countPrunable({ at })).toBe(0)
    expect(answersOf(each)).toEqual(await answersInMemory(at))
  }
  expect(verifyEvidence(store)).toMatchObject({ ok: true })
})

test('a reader does not wait for a process that holds the file', async () => {
  const path = await tempPath()
  const store = await openStore(path)
  await store.append(usual)
  const expected = await answersInMemory()
  inFile(path, (db) => {
    db.exec('BEGIN IMMEDIATE')
    expect(answersOf(store)).toEqual(expected)
    db.exec('ROLLBACK')
  })
  expect(countSummaries(path)).toBe(0)
  expect(answersOf(store)).toEqual(expected)
  expect(countSummaries(path)).toBe(3)
})

test('two processes that write, one of them killed, leave summaries that say what the chain says', async () => {
  const path = await tempPath()
  const store = await openStore(path)
  const program = `
    const { openSqliteStore } = await import(${JSON.stringify(new URL('../open-sqlite-store.ts', import.meta.url).href)})
    const { sampleBegin, sampleEnd } = await import(${JSON.stringify(new URL('../../../testing/store-checks/sample-records.ts', import.meta.url).href)})
    const store = await openSqliteStore({ path: ${JSON.stringify(path)} })
    for (let i = 0; ; i++) {
      const calls = Array.from({ length: 200 }, (_, index) => 'killed_' + i + '_' + index)
      await store.append(calls.flatMap((call) => [sampleBegin(call), sampleEnd(call)]))
      Array.from(store.records({ tenant: 'local', kind: 'begin', actor: 'nobody' }))
      console.log(i)
    }`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let rounds = 0
  child.stdout.on('data', () => rounds++)
  const gone = new Promise((resolve) => child.once('exit', resolve))
  await vi.waitFor(() => expect(rounds).toBeGreaterThan(0))
  for (let i = 0; i < 3200 || rounds < 10; i += 100) {
    await store.append(someCalls(i, 100, 'local'))
    if ([...store.records({ tenant: 'local', kind: 'begin', actor: 'nobody' })].length > 0) break
    await new Promise((resolve) => setImmediate(resolve))
  }
  child.kill('SIGKILL')
  await gone
  const reopened = await openStore(path)
  const copy = createMemoryStore({ maxRecords: 1_000_000, maxCharacters: 1_000_000_000 })
  for (const { text, body } of reopened.records({ tenant: 'local' }))
    await copy.append([{ record: JSON.parse(text), body }])
  expect(answersOf(reopened)).toEqual(answersOf(copy))
  expect(Number(countSummaries(path))).toBe(
    Math.floor((reopened.head('local')?.sequence ?? 0) / recordsPerSummary),
  )
  expect(verifyEvidence(reopened)).toMatchObject({ ok: true })
})
