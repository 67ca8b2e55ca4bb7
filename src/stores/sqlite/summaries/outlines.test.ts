import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { note } from '../../../testing/store-checks/read-back.ts'
import { sampleBegin, sampleEnd } from '../../../testing/store-checks/sample-records.ts'
import { openSqliteStore } from '../open-sqlite-store.ts'
import { createSealer } from '../seals/sealer.ts'
import { readStoreKey } from '../seals/store-key.ts'
import { createFinder } from './find-in-summary.ts'
import { someCalls, start } from './many-records.fixture.ts'
import { inFile, openStore, tempPath } from './open-file.fixture.ts'
import { partsPerOutline } from './outline.ts'
import { createSummaryTable } from './summary-table.ts'
import { encodeSummary, recordsPerSummary } from './summary.ts'

/** Parts behind those of the outline. */
const more = 2
/** Sessions of seven calls that make so many parts, and a bit. */
const sessions = Math.ceil((recordsPerSummary * (partsPerOutline + more)) / 14)
let made = ''

function count(path: string, table: 'summaries' | 'outlines'): unknown {
  return inFile(path, (db) => db.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.['count'])
}

// The process that writes records makes their summaries and outlines when it has nothing else to write.
beforeAll(async () => {
  made = join(await mkdtemp(join(tmpdir(), 'handrail-outlines-')), 'store.db')
  const store = await openSqliteStore({ path: made })
  await store.append(someCalls(0, sessions * 7))
  await vi.waitFor(() => expect(count(made, 'outlines')).toBe(1), { interval: 50 })
  await store.close()
})

afterAll(() => rm(dirname(made), { recursive: true }))

/** A copy without the summaries, so that those which a reader needs are made again and can be counted. */
async function copyWithout(change = ''): Promise<string> {
  const path = await tempPath()
  await cp(dirname(made), dirname(path), { recursive: true })
  inFile(path, (db) => db.exec(`DELETE FROM summaries; ${change}`))
  return path
}

test('a process that begins to look for something needs the summaries of those parts alone that may have it', async () => {
  const path = await copyWithout()
  const far = Math.floor(sessions / 2)
  const found = [
    ...(await openStore(path)).records({ tenant: 'local', session: `ses_${far}`, kind: 'begin' }),
  ]
  expect(found.map(({ call }) => call)).toEqual(
    Array.from({ length: 7 }, (_, index) => `local_${far * 7 + index}`),
  )
  expect(count(path, 'summaries')).toBe(1 + more)
  for (const nothing of [{ session: 'none' }, { actor: 'nobody' }, { tool: 'none.*' }, { since: 9e12 }])
    expect([...(await openStore(path)).records({ tenant: 'local', ...nothing })]).toEqual([])
  expect(count(path, 'summaries')).toBe(1 + more)
})

test.each([
  ['that is gone', 'DELETE FROM outlines'],
  ['that was changed', 'UPDATE outlines SET value = zeroblob(length(value))'],
  ['with another seal', `UPDATE outlines SET seal = 'x'`],
  ['of another tenant', `UPDATE outlines SET tenant = 'other'`],
])(
  'an outline %s does not count, and who reads all of its parts makes it again (EVID-7)',
  async (_, change) => {
    const contents = (path: string) =>
      inFile(path, (db) => db.prepare("SELECT hex(value), seal FROM outlines WHERE tenant = 'local'").all())
    const path = await copyWithout(change)
    const store = await openStore(path)
    expect([
      ...store.records({ tenant: 'local', session: 'ses_0', kind: 'begin', newestFirst: true }),
    ]).toHaveLength(7)
    expect(count(path, 'summaries')).toBe(partsPerOutline + more)
    expect(contents(path)).toEqual(contents(made))
  },
)

test('who found enough and stops makes the outlines of the parts before it', async () => {
  const path = await copyWithout('DELETE FROM outlines')
  const store = await openStore(path)
  const asked = { tenant: 'local', session: 'ses_0', kind: 'begin', newestFirst: true, limit: 1 } as const
  expect([...store.records(asked)].map(({ call }) => call)).toEqual(['local_6'])
  expect(count(path, 'outlines')).toBe(1)
})

test('calls that run are found without the summaries of parts in which all have ended', async () => {
  const path = await tempPath()
  const store = await openStore(path)
  const [before, running, after] = [someCalls(0, 4000), sampleBegin('running'), someCalls(4000, 4000)]
  await store.append([...before, sampleBegin('slow'), running, ...after.slice(0, 100)])
  await store.append([...after.slice(100), sampleEnd('slow'), ...someCalls(8000, sessions * 7 - 8000)])
  const find = (of: typeof store) =>
    [...of.records({ tenant: 'local', open: true, newestFirst: true })].map(({ call }) => call)
  expect(find(store)).toEqual(['running'])
  await vi.waitFor(() => expect(count(path, 'outlines')).toBe(1), { interval: 50 })
  inFile(path, (db) => db.exec('DELETE FROM summaries'))
  expect(find(await openStore(path))).toEqual(['running'])
  expect(count(path, 'summaries')).toBe(1 + more)
  await store.append([sampleEnd('running')])
  expect(find(await openStore(path))).toEqual([])
})

test('parts whose bodies were pruned are not looked through again', async () => {
  const path = await tempPath()
  await cp(dirname(made), dirname(path), { recursive: true })
  const at = start + 1000 * recordsPerSummary * 2.25
  expect((await openStore(path)).prune({ at })).toBeGreaterThan(0)
  inFile(path, (db) => db.exec('DELETE FROM summaries'))
  expect((await openStore(path)).countPrunable({ at })).toBe(0)
  // The part in which the time is.
  expect(count(path, 'summaries')).toBe(1 + more)
})

test('notes are found by their event, also in summaries that say only that they are notes', async () => {
  const path = await tempPath()
  const store = await openStore(path)
  await store.append([note('local_0'), ...someCalls(0, recordsPerSummary)])
  const find = (event: string) =>
    [...store.records({ tenant: 'local', kind: 'note', event })].map(({ sequence }) => sequence)
  const ask = () => [find('permission_failed'), find('policy_changed')]
  expect(ask()).toEqual([[1], []])
  inFile(path, (db) => {
    const found = readStoreKey(path)
    if ('problem' in found) throw new Error(found.problem)
    const table = createSummaryTable({ db, sealer: createSealer(found.key), busyTimeoutMs: 0 })
    const kept = table.read('local', 0)
    if (kept === undefined) throw new Error('a summary is missing')
    const shapes = kept.summary.shapes.map(({ kind, tool, actor, outcome }) =>
      JSON.stringify([kind, tool, actor, outcome]),
    )
    table.keep('local', 0, { ...kept, value: encodeSummary({ ...kept.summary, shapes }) })
    const { fits } = createFinder({ event: 'policy_changed' })
    expect([...(table.read('local', 0)?.summary.shapes ?? [])].map(fits)).toContain(true)
  })
  const other = await openStore(path)
  expect([...other.records({ tenant: 'local', event: 'permission_failed' })]).toHaveLength(1)
  expect([...other.records({ tenant: 'local', event: 'policy_changed' })]).toEqual([])
  // What another program made of a note is for verify to tell of.
  inFile(path, (db) => db.exec(`UPDATE records SET text = 'null' WHERE sequence = 1`))
  expect([...other.records({ tenant: 'local', event: 'permission_failed' })]).toEqual([])
})
