import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import type { Store } from '../../contract/store.ts'
import { sampleBegin } from '../../testing/store-checks/sample-records.ts'
import { openSqliteStore } from './open-sqlite-store.ts'

interface Place {
  store: Store
  told: string[]
  /** What a program with the file and without its key does. */
  tamper: (statement: string) => void
}

async function openPlace(): Promise<Place> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-documents-'))
  const path = join(directory, 'store.db')
  const told: string[] = []
  const store = await openSqliteStore({ path, onError: (message) => told.push(message) })
  onTestFinished(async () => {
    await store.close()
    await rm(directory, { recursive: true })
  })
  const tamper = (statement: string): void => {
    const db = new DatabaseSync(path)
    db.exec(statement)
    db.close()
  }
  return { store, told, tamper }
}

const step = (id: string, value: string) => ({
  tenant: 'local',
  kind: 'step' as const,
  group: 't',
  id,
  value,
})
const query = { tenant: 'local', kind: 'step' as const }

test('a document that another program changed or put in stops the store where it is read (EVID-7)', async () => {
  for (const forgery of [
    `UPDATE documents SET value = '"completed"' WHERE id = 'a'`,
    `INSERT INTO documents SELECT tenant, kind, within, 'c', seal, value FROM documents WHERE id = 'a'`,
  ]) {
    const { store, told, tamper } = await openPlace()
    await store.append([], { documents: [step('a', 'pending'), step('b', 'pending')] })
    tamper(forgery)
    expect(store.examine().join()).toMatch(/the row of "documents" with kind "step".* by hand/)
    // Others are not looked at.
    expect(store.documents({ ...query, group: 't', id: 'b' })).toHaveLength(1)
    expect(() => store.documents(query)).toThrow(/takes no records: the row of "documents"/)
    await expect(store.append([sampleBegin('x')])).rejects.toMatchObject({ reason: 'store_read_only' })
    expect(told).toHaveLength(1)
  }
})

test('a document that another program removed or set back is missed when all is examined (EVID-7)', async () => {
  const { store, tamper } = await openPlace()
  await store.append([], { documents: [step('a', 'pending'), step('b', 'pending')] })
  expect(store.examine()).toEqual([])
  tamper(`DELETE FROM documents WHERE id = 'a'`)
  expect(store.examine()).toEqual([expect.stringMatching(/or a document was changed, removed or set back/)])
})

test('reads the documents that fit and no others, by index', async () => {
  const { store, tamper } = await openPlace()
  await store.append([], {
    documents: ['a', 'b', 'c', 'd'].flatMap((id) => [step(id, id), { ...step(id, id), group: 'u' }]),
  })
  // One that is read stops the store.
  tamper(`UPDATE documents SET seal = '' WHERE id IN ('a', 'd') OR within = 'u'`)
  const after = { group: 't', id: 'a' }
  const idsOf = (more: object): string[] => store.documents({ ...query, ...more }).map(({ id }) => id)
  expect(idsOf({ after, limit: 2 })).toEqual(['b', 'c'])
  expect(idsOf({ after, limit: 2, group: 't' })).toEqual(['b', 'c'])
  expect(idsOf({ after: { group: 't', id: 'd' }, limit: 2, group: 't', newestFirst: true })).toEqual([
    'c',
    'b',
  ])
  expect(store.readOnly).toBeUndefined()
})
