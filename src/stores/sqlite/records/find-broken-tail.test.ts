import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { CheckpointRecord } from '../../../contract/evidence.ts'
import type { Entry, Store } from '../../../contract/store.ts'
import { sampleBegin, sampleEnd } from '../../../testing/store-checks/sample-records.ts'
import { openSqliteStore } from '../open-sqlite-store.ts'

/** A store's file with what `write` writes, changed by this statement and opened again. */
async function openChanged(write: (store: Store) => Promise<void>, change: string): Promise<Store> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-tail-'))
  const path = join(directory, 'store.db')
  const first = await openSqliteStore({ path })
  await write(first)
  await first.close()
  const db = new DatabaseSync(path)
  db.exec(change)
  db.close()
  const store = await openSqliteStore({ path })
  onTestFinished(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })
  return store
}

async function writeThreeCalls(store: Store): Promise<void> {
  const { writer } = store
  for (const call of ['a', 'b', 'c']) await store.append([sampleBegin(call, { writer }), sampleEnd(call)])
}

const damages: readonly (readonly [what: string, change: string, why: RegExp])[] = [
  ['a changed first record', `UPDATE records SET text = text || ' ' WHERE sequence = 1`, /record 1 /],
  ['a changed record', `UPDATE records SET text = text || ' ' WHERE sequence = 3`, /record 3 /],
  ['a changed hash', `UPDATE records SET hash = zeroblob(32) WHERE sequence = 3`, /record 4 /],
  ['a removed record', `DELETE FROM records WHERE sequence = 4`, /record 5 /],
  ['a removed first record', `DELETE FROM records WHERE sequence = 1`, /record 2 /],
  ['a cut-off end', `DELETE FROM records WHERE sequence > 4`, /ends with the record 4, and its head says 6/],
  ['a chain that is gone', `DELETE FROM records`, /head says 6, and there is no record/],
  ['a removed head', `DELETE FROM heads`, /ends with the record 6, and its head says nothing/],
  ['a head with another hash', `UPDATE heads SET hash = zeroblob(32)`, /another hash than the record 6/],
]

test.each(damages)('opens for reading only after %s (EVID-7)', async (_, change, why) => {
  const store = await openChanged(writeThreeCalls, change)
  expect(store.readOnly).toMatch(why)
  expect(store.readOnly).toContain('handrail evidence verify')
  expect(store.readOnly).toContain(store.description.replace('sqlite ', ''))
  await expect(store.append([sampleBegin('d')])).rejects.toMatchObject({
    reason: 'store_read_only',
    message: store.readOnly,
  })
  expect(() => [...store.records({})]).not.toThrow()
})

test('writes nothing into a damaged store (EVID-7)', async () => {
  const leaveDead = `INSERT INTO writers VALUES ('dead', ${2 ** 22 + 1}, 'long ago', 1, 0)`
  const store = await openChanged(writeThreeCalls, `UPDATE heads SET sequence = 5; ${leaveDead}`)
  const path = store.description.replace('sqlite ', '')
  const writers = (): unknown[] => {
    const db = new DatabaseSync(path)
    const rows = db.prepare('SELECT id FROM writers').all()
    db.close()
    return rows.map(({ id }) => id)
  }
  expect(store.orphans()).toEqual([])
  await store.append([])
  store.refund('a')
  await store.close()
  expect(writers()).toEqual(['dead'])
})

test('opens for reading and writing where only bodies are gone (EVID-7)', async () => {
  const store = await openChanged(writeThreeCalls, 'UPDATE records SET body = NULL')
  expect(store.readOnly).toBeUndefined()
  await store.append([sampleBegin('d', { writer: store.writer }), sampleEnd('d')])
})

test('looks at the chain of every tenant (EVID-7, AUTH-6)', async () => {
  const store = await openChanged(async (first) => {
    for (let i = 0; i < 300; i++) await first.append([sampleBegin(`call_${i}`, { tenant: `tenant_${i}` })])
  }, `UPDATE records SET text = text || ' ' WHERE tenant = 'tenant_77'`)
  expect(store.readOnly).toContain('the tenant "tenant_77"')
})

/** A checkpoint as the evidence writes it; its signature is not looked at here. */
function checkpoint(store: Store): Entry {
  const { sequence = 0, hash = '' } = store.head('local') ?? {}
  const record: CheckpointRecord = {
    kind: 'checkpoint',
    tenant: 'local',
    session: '',
    at: 1,
    sequence,
    hash,
    key: 'key',
    signature: 'signature',
  }
  return { record, body: null }
}

test('looks back to the last checkpoint, or over the newest records (EVID-7)', async () => {
  const write = async (store: Store): Promise<void> => {
    await writeThreeCalls(store)
    await store.append([checkpoint(store)])
    await store.append([sampleBegin('d', { writer: store.writer }), sampleEnd('d')])
  }
  const change = (sequence: number): string =>
    `UPDATE records SET text = text || ' ' WHERE sequence = ${sequence}`
  expect((await openChanged(write, change(5))).readOnly).toBeUndefined()
  expect((await openChanged(write, change(7))).readOnly).toMatch(/record 7 /)
  const writeMany = async (store: Store): Promise<void> => {
    const calls = Array.from({ length: 600 }, (_, index) => `call_${index}`)
    await store.append(calls.flatMap((call) => [sampleBegin(call), sampleEnd(call)]))
  }
  expect((await openChanged(writeMany, change(150))).readOnly).toBeUndefined()
  expect((await openChanged(writeMany, change(250))).readOnly).toMatch(/record 250 /)
})
