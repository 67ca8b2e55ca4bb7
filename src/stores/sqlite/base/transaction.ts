import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { dataVersion } from './data-version.ts'

/** Compiled once for a connection, as each call needs them twice. */
const words = new WeakMap<DatabaseSync, { begin: StatementSync; commit: StatementSync }>()

function wordsOf(db: DatabaseSync): { begin: StatementSync; commit: StatementSync } {
  let found = words.get(db)
  if (found === undefined)
    words.set(db, (found = { begin: db.prepare('BEGIN IMMEDIATE'), commit: db.prepare('COMMIT') }))
  return found
}

/** Does the work in one transaction that holds the write lock from its start. What it throws undoes everything. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  const { begin, commit } = wordsOf(db)
  begin.run()
  try {
    const result = work()
    commit.run()
    return result
  } catch (error) {
    // Some failures, such as a full disk, have ended the transaction already.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

/** The same for tables that this program knows: throws `Upgraded` otherwise. */
export function inKnownTables<T>(db: DatabaseSync, work: () => T): T {
  return inTransaction(db, () => {
    dataVersion(db)
    return work()
  })
}

/** Reads everything as it is at one time, whatever others write meanwhile. */
export function inSnapshot<T>(db: DatabaseSync, read: () => T): T {
  if (db.isTransaction) return read()
  db.exec('BEGIN')
  try {
    return read()
  } finally {
    db.exec('ROLLBACK')
  }
}
