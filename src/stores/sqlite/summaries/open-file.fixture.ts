import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { onTestFinished } from 'vitest'
import type { Store } from '../../../contract/store.ts'
import { openSqliteStore } from '../open-sqlite-store.ts'

/** A path for a store that is gone after the test. */
export async function tempPath(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'handrail-store-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  return join(directory, 'store.db')
}

/** The store at this path, closed after the test. */
export async function openStore(path: string): Promise<Store> {
  const store = await openSqliteStore({ path })
  onTestFinished(() => store.close())
  return store
}

/** Changes the file behind the back of the stores that have it open. */
export function inFile<T>(path: string, work: (db: DatabaseSync) => T): T {
  const db = new DatabaseSync(path)
  try {
    return work(db)
  } finally {
    db.close()
  }
}
