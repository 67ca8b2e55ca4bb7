import type { DatabaseSync } from 'node:sqlite'
import { inKnownTables } from './transaction.ts'
import { processLives, processStart } from '../../process-life.ts'

/** The processes that write to a store, and which of them still live. */
export interface Writers {
  /** Does the work in one transaction, which makes this process known where it is not yet. */
  write<T>(work: () => T): T
  /** Moves the place from which a recovery looks for open calls of this process. Call it inside a transaction. */
  moveFirstOpen(position: number): void
  /** Records that this process writes no more; `firstOpen` is the position of its oldest call without an end, if there is one. */
  recordClose(firstOpen: number | undefined): void
  lives(id: string): boolean
  /** The place from which a recovery looks for open calls of this process; undefined for one that left none. */
  firstOpen(id: string): number | undefined
  /**
   * Whether what a process holds is free. Where the system does not tell one process from a later one with the same number, a
   * lapsed lease decides.
   */
  isGone(id: string, lapsed: boolean): boolean
  /** Those that closed or died and may have left calls open. */
  gone(): { id: string; firstOpen: number }[]
  forget(ids: readonly string[]): void
}

/** The writers of this file; `own` is the id of this process among them, and `transact` does work in one transaction. */
export function createWriters(db: DatabaseSync, own: string, transact: <T>(work: () => T) => T): Writers {
  let registered = false
  const select = 'SELECT id, pid, started, first_open, closed FROM writers'
  const find = db.prepare(`${select} WHERE id = ?`)
  const move = db.prepare('UPDATE writers SET first_open = ? WHERE id = ?')
  const remove = db.prepare('DELETE FROM writers WHERE id = ?')
  const isAlive = (row: Record<string, unknown>): boolean =>
    row['id'] === own
      ? row['closed'] === 0
      : row['closed'] === 0 && processLives(Number(row['pid']), String(row['started']))
  const register = (): void => {
    db.prepare(
      'INSERT OR IGNORE INTO writers (id, pid, started, first_open, closed) ' +
        'SELECT ?, ?, ?, coalesce(max(position), 0) + 1, 0 FROM records',
    ).run(own, process.pid, processStart(process.pid))
  }
  return {
    write(work) {
      if (registered) return transact(work)
      const result = transact(() => {
        register()
        return work()
      })
      registered = true
      return result
    },
    moveFirstOpen(position) {
      move.run(position, own)
    },
    recordClose(firstOpen) {
      if (!registered) return
      // Should this be lost with the power, a recovery finds a dead process that left nothing open.
      if (firstOpen === undefined) remove.run(own)
      else db.prepare('UPDATE writers SET first_open = ?, closed = 1 WHERE id = ?').run(firstOpen, own)
    },
    lives(id) {
      const row = find.get(id)
      return row !== undefined && isAlive(row)
    },
    firstOpen(id) {
      const row = find.get(id)
      return row && Number(row['first_open'])
    },
    isGone(id, lapsed) {
      const row = find.get(id)
      return row === undefined || !isAlive(row) || (lapsed && id !== own && row['started'] === '')
    },
    gone: () =>
      db
        .prepare(select)
        .all()
        .filter((row) => !isAlive(row))
        .map((row) => ({ id: String(row['id']), firstOpen: Number(row['first_open']) })),
    forget(ids) {
      if (ids.length === 0) return
      inKnownTables(db, () => {
        for (const id of ids) remove.run(id)
      })
    },
  }
}
