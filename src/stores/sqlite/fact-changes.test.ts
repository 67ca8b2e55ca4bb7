import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { openSqliteStore } from './open-sqlite-store.ts'

test.each([
  ['removes', 'DELETE FROM fact_changes WHERE version = (SELECT max(version) FROM fact_changes) - 1'],
  ['removes the last of', 'DELETE FROM fact_changes WHERE version = (SELECT max(version) FROM fact_changes)'],
  ['renames', "UPDATE fact_changes SET id = 'other' WHERE id = 'b'"],
])('who %s changes by hand hides none: all facts are read then', async (_, statement) => {
  const dir = await mkdtemp(join(tmpdir(), 'handrail-changes-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const path = join(dir, 'store.db')
  const store = await openSqliteStore({ path })
  const before = store.factsVersion()
  for (const id of ['a', 'b', 'c'])
    await store.append([], { facts: [{ tenant: 'local', kind: 'consent', id, value: 1 }] })
  expect(store.factsSince('consent', before)?.changed).toHaveLength(3)
  const db = new DatabaseSync(path)
  db.exec(statement)
  db.close()
  expect(store.factsSince('consent', before)).toBeUndefined()
  expect(store.facts('consent')).toHaveLength(3)
  await store.close()
})
