import type { DatabaseSync } from 'node:sqlite'

/** Does the work in one transaction that holds the write lock from its start. What it throws undoes everything. */
export function inTransaction<T>(db: DatabaseSync, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    // Some failures, such as a full disk, have ended the transaction already.
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
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
