import type { DatabaseSync } from 'node:sqlite'
import { sqliteProblem } from './sqlite-error.ts'

/** Does work on the file that may be done another time: undefined if another process holds the file. Other work waits for `busyTimeoutMs`. */
export function withoutWaiting<T>(db: DatabaseSync, busyTimeoutMs: number, work: () => T): T | undefined {
  db.exec('PRAGMA busy_timeout = 0')
  try {
    return work()
  } catch (error) {
    if (sqliteProblem(error) === 'busy') return undefined
    throw error
  } finally {
    db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  }
}
