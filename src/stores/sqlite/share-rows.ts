import type { DatabaseSync } from 'node:sqlite'
import { sweepGraceMs } from '../sweep-grace.ts'
import type { Writers } from './writers.ts'

/** What this process has of an account, on its way into its row. */
export interface ShareChange {
  account: string
  /** Units spent since the row was changed before; they are added. */
  spent: number
  held: number
  /** Milliseconds since the epoch, as everywhere here. */
  heldUntil: number
  endsAt: number
}

/** What others have of an account. */
export interface OtherShares {
  /** By everybody, this process included. */
  spent: number
  held: number
  holders: { writer: string; held: number; heldUntil: number }[]
}

/**
 * One row for each account and process: what it spent, and what it holds. A process changes its own rows only, and takes over those of
 * processes that are gone. What was spent by those stands in a row of its own.
 */
export interface ShareRows {
  read(account: string): OtherShares
  /** Changes the row of this process. Call it inside a transaction. */
  put(change: ShareChange): void
  /** Whether what somebody holds is free again: its process is gone. The answer may be so many milliseconds old. */
  isVoid(holder: { writer: string; heldUntil: number }, at: number, maxAgeMs: number): boolean
  /** Ends what a process that is gone holds. Call it inside a transaction. */
  takeOver(account: string, writer: string): void
  /** Removes some rows of windows that ended a while ago. Call it inside a transaction. */
  sweep(at: number): void
  /** Whether this process has a row. */
  isIn(): boolean
  /** Ends what this process holds of any account. Call it inside a transaction. */
  leave(): void
}

/** So many rows are removed at once at most. */
const rowsPerSweep = 64

const fold =
  "INSERT INTO shares (account, writer, spent, held, held_until, ends_at) SELECT account, '', spent, 0, 0, ends_at " +
  'FROM shares WHERE writer = :writer AND account = coalesce(:account, account) ' +
  'ON CONFLICT (account, writer) DO UPDATE SET spent = shares.spent + excluded.spent'

/** The rows in this file; `own` is the id of this process among its writers. */
export function createShareRows(db: DatabaseSync, writers: Writers, own: string): ShareRows {
  const select = db.prepare('SELECT writer, spent, held, held_until FROM shares WHERE account = ?')
  select.setReturnArrays(true)
  const upsert = db.prepare(
    'INSERT INTO shares (account, writer, spent, held, held_until, ends_at) VALUES (?, ?, ?, ?, ?, ?) ' +
      'ON CONFLICT (account, writer) DO UPDATE SET spent = shares.spent + excluded.spent, held = excluded.held, ' +
      'held_until = excluded.held_until',
  )
  const foldOne = db.prepare(fold)
  const drop = db.prepare(
    'DELETE FROM shares WHERE writer = :writer AND account = coalesce(:account, account)',
  )
  const removeEnded = db.prepare(
    'DELETE FROM shares WHERE (account, writer) IN ' +
      '(SELECT account, writer FROM shares WHERE ends_at < ? ORDER BY ends_at LIMIT ?)',
  )
  let put = false
  /** When a process was last seen to live, by the clock that only goes forward. */
  const seenAlive = new Map<string, number>()
  const end = (about: { writer: string; account: string | null }): void => {
    foldOne.run(about)
    drop.run(about)
  }
  return {
    read(account) {
      const others: OtherShares = { spent: 0, held: 0, holders: [] }
      // Rows of this statement are arrays, of columns that the tables declare.
      for (const row of select.all(account) as unknown as [string, number, number, number][]) {
        const [writer, spent, held, heldUntil] = row
        others.spent += spent
        if (writer === own || held === 0) continue
        others.held += held
        others.holders.push({ writer, held, heldUntil })
      }
      return others
    },
    put({ account, spent, held, heldUntil, endsAt }) {
      put = true
      upsert.run(account, own, spent, held, heldUntil, Number.isFinite(endsAt) ? endsAt : null)
    },
    isVoid({ writer, heldUntil }, at, maxAgeMs) {
      const hasLapsed = heldUntil <= at
      const now = performance.now()
      if (!hasLapsed && now - (seenAlive.get(writer) ?? Number.NEGATIVE_INFINITY) < maxAgeMs) return false
      const isGone = writers.isGone(writer, hasLapsed)
      if (isGone) seenAlive.delete(writer)
      else seenAlive.set(writer, now)
      return isGone
    },
    takeOver: (account, writer) => end({ account, writer }),
    sweep: (at) => void removeEnded.run(at - sweepGraceMs, rowsPerSweep),
    isIn: () => put,
    leave: () => end({ account: null, writer: own }),
  }
}
