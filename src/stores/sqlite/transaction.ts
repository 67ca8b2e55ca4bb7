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

/** Does work whose transactions need not reach the disk by themselves: a later one in the same log takes them along. */
export function withoutSync<T>(db: DatabaseSync, work: () => T): T {
  db.exec('PRAGMA synchronous = NORMAL')
  try {
    return work()
  } finally {
    db.exec('PRAGMA synchronous = FULL')
  }
}
