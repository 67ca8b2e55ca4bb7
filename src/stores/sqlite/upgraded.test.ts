import { spawnSync } from 'node:child_process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { sampleBegin, sampleEnd } from '../../testing/store-checks/sample-records.ts'
import { schemaVersion } from '../schema-version.ts'
import { openSqliteStore } from './open-sqlite-store.ts'
import { someCalls } from './summaries/many-records.fixture.ts'
import { inFile, tempPath } from './summaries/open-file.fixture.ts'

/** What a newer Handrail does to a file in a process of its own: it keeps texts elsewhere, where this version does not look. */
function upgrade(path: string): void {
  const program = `
    const { DatabaseSync } = require('node:sqlite')
    const db = new DatabaseSync(${JSON.stringify(path)})
    db.exec("BEGIN IMMEDIATE; UPDATE records SET text = '{}'; PRAGMA user_version = ${schemaVersion + 1}; COMMIT")
    db.close()`
  const { status, stderr } = spawnSync(process.execPath, ['-e', program], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
}

async function openUpgraded(): Promise<
  { path: string; told: string[] } & Pick<Opened, 'store' | 'iterated'>
> {
  const path = await tempPath()
  const told: string[] = []
  const store = await openSqliteStore({ path, onError: (message) => told.push(message) })
  onTestFinished(() => store.close())
  const fact = { tenant: 'local', kind: 'consent' as const, id: 'c', value: 1 }
  await store.append([...someCalls(0, 3000), sampleBegin('open')], { facts: [fact] })
  const iterated = store.records({ tenant: 'local', after: 1000 })
  iterated.next()
  upgrade(path)
  return { path, told, store, iterated }
}

interface Opened {
  store: Awaited<ReturnType<typeof openSqliteStore>>
  iterated: ReturnType<Opened['store']['records']>
}

const upgraded = new RegExp(
  `upgraded it while it was open here \\(version ${schemaVersion + 1} of the tables, this program knows ${schemaVersion}\\)\\. Update Handrail here if it is older, and start it again`,
)
const refused = { reason: 'store_read_only', message: expect.stringMatching(upgraded) }

test('a store that a newer Handrail upgraded meanwhile takes nothing more, and says what to do', async () => {
  const { path, store, told } = await openUpgraded()
  const dump = () =>
    inFile(path, (db) => [
      db.prepare('SELECT count(*) AS records, max(sequence) AS last FROM records').get(),
      ...['packs', 'summaries', 'outlines', 'writers', 'facts'].map((table) =>
        db.prepare(`SELECT count(*) AS rows FROM ${table}`).get(),
      ),
    ])
  const before = dump()
  await expect(store.append([sampleEnd('open')])).rejects.toMatchObject(refused)
  expect(store.readOnly).toMatch(upgraded)
  expect(store.trouble).toBe('a newer version upgraded it; this one has to be started again')
  const key = { tenant: 'local', tool: 't', key: 'k', inputDigest: 'i', call: 'c', at: 1, windowMs: 1 }
  expect(() => store.claimKey(key)).toThrow(expect.objectContaining(refused))
  expect(() => store.prune({ at: 9e12 })).toThrow(expect.objectContaining(refused))
  const item = { account: 'a', limit: 9, units: 1, least: 1, endsAt: Infinity }
  expect(() => store.reserve({ call: 'c', tenant: 'local', at: 1, leaseMs: 1, items: [item] })).toThrow(
    expect.objectContaining(refused),
  )
  await store.close()
  expect(dump()).toEqual(before)
  expect(told).toEqual([expect.stringMatching(upgraded)])
})

test.each<[string, (opened: Opened) => unknown]>([
  ['records', ({ store }) => [...store.records({ tenant: 'local' })]],
  ['the rest of records that are being read', ({ iterated }) => [...iterated]],
  ['records of a call', ({ store }) => [...store.records({ call: 'open' })]],
  ['records that a search finds', ({ store }) => [...store.records({ actor: 'actor_1' })]],
  ['counts', ({ store }) => store.countEnds({ tenant: 'local', since: 0, until: 9e12 })],
  ['facts', ({ store }) => store.facts('consent')],
  ['the end of a chain', ({ store }) => store.head('local')],
])(
  'of a store that a newer Handrail upgraded meanwhile, %s are not read as what they are not',
  async (_, read) => {
    const opened = await openUpgraded()
    expect(() => read(opened)).toThrow(expect.objectContaining(refused))
  },
)

test('a process that does nothing is told that a newer Handrail upgraded its store', async () => {
  const { told } = await openUpgraded()
  await vi.waitFor(() => expect(told).toEqual([expect.stringMatching(upgraded)]))
})
