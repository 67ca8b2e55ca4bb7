import type { DatabaseSync } from 'node:sqlite'
import { sweepGraceMs } from '../../sweep-grace.ts'
import { describeRow } from '../seals/examine-seals.ts'
import { createOpenReservations } from './open-reservations.ts'
import { createSealedTable, goodSeal, sealedTables, toRow } from '../seals/sealed-table.ts'
import type { SealedWrites } from '../seals/sealed-writes.ts'
import { Tampered } from '../seals/tampered.ts'
import type { Writers } from '../base/writers.ts'

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
  /** Whether what this holder has is free again: its process is gone. The answer may be so many milliseconds old. */
  isVoid(holder: { writer: string; heldUntil: number }, at: number, maxAgeMs: number): boolean
  /** What a process that is gone still holds, because of calls that it left open. */
  leftOpen(account: string, writer: string): number
  /** Ends what a process that is gone holds beside that, and returns how much it is. Call it inside a transaction. */
  takeOver(account: string, writer: string): number
  /** Removes some rows of windows that ended a while ago. Call it inside a transaction. */
  sweep(at: number): void
  /** Whether this process has a row. */
  isIn(): boolean
  /** Ends what this process holds of any account, but for what calls have reserved that are open. Call it inside a transaction. */
  leave(reservedOf: (account: string) => number): void
}

/** A row as the database has it. */
interface ShareRow {
  account: string
  writer: string
  spent: number
  held: number
  held_until: number
  ends_at: number | null
}

/** So many rows of this process are remembered. */
const rememberedRows = 1000

/** So many rows are removed at once at most. */
const rowsPerSweep = 64

export interface ShareRowsOptions {
  db: DatabaseSync
  writers: Writers
  writes: SealedWrites
  /** Id of this process among the writers. */
  own: string
}

/** The writer in the row of no process, which holds what processes that are gone spent. */
const nobody = ''

/** The rows in this file. Throws `Tampered` where one was not written with the key of the store. */
export function createShareRows({ db, writers, writes, own }: ShareRowsOptions): ShareRows {
  const table = createSealedTable(db, writes, sealedTables.shares)
  const select = 'SELECT account, writer, spent, held, held_until, ends_at, seal FROM shares WHERE'
  const ofAccount = db.prepare(`${select} account = ?`)
  const ofWriter = db.prepare(`${select} writer = ?`)
  const one = db.prepare(`${select} account = ? AND writer = ?`)
  const ended = db.prepare('SELECT account, writer FROM shares WHERE ends_at < ? ORDER BY ends_at LIMIT ?')
  const openReservations = createOpenReservations(db, writers)
  let put = false
  /** When a process was last seen to live, by the clock that only goes forward. */
  const seenAlive = new Map<string, number>()
  /** Rows of this process, as it wrote them last. */
  const written = new Map<string, Pick<ShareRow, 'spent' | 'ends_at'>>()
  writes.onOthers(() => written.clear())

  const check = (found: Record<string, unknown>): ShareRow => {
    const row = toRow(found)
    if (goodSeal(sealedTables.shares, row, writes.sealer) === undefined)
      throw new Tampered(describeRow(sealedTables.shares, row))
    // These are the columns of its table.
    return found as unknown as ShareRow
  }
  const find = (account: string, writer: string): ShareRow | undefined => {
    const row = one.get(account, writer)
    return row === undefined ? undefined : check(row)
  }
  const end = ({ account, writer, spent, held_until, ends_at }: ShareRow, keeps: number): void => {
    const before = find(account, nobody)
    table.put({
      account,
      writer: nobody,
      spent: (before?.spent ?? 0) + spent,
      held: 0,
      held_until: 0,
      ends_at: before === undefined ? ends_at : before.ends_at,
    })
    if (keeps === 0) table.remove({ account, writer })
    else table.put({ account, writer, spent: 0, held: keeps, held_until, ends_at })
  }
  return {
    read(account) {
      const others: OtherShares = { spent: 0, held: 0, holders: [] }
      for (const { writer, spent, held, held_until: heldUntil } of ofAccount.all(account).map(check)) {
        others.spent += spent
        if (writer === own || held === 0) continue
        others.held += held
        others.holders.push({ writer, held, heldUntil })
      }
      return others
    },
    put({ account, spent, held, heldUntil, endsAt }) {
      put = true
      const before = written.get(account) ?? find(account, own)
      const ends_at = before === undefined ? (Number.isFinite(endsAt) ? endsAt : null) : before.ends_at
      const total = (before?.spent ?? 0) + spent
      table.put({ account, writer: own, spent: total, held, held_until: heldUntil, ends_at })
      if (written.size >= rememberedRows) written.clear()
      written.set(account, { spent: total, ends_at })
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
    leftOpen: (account, writer) => openReservations(writer, account),
    takeOver(account, writer) {
      const row = find(account, writer)
      if (row === undefined) return 0
      const keeps = Math.min(row.held, openReservations(writer, account))
      if (keeps < row.held || row.spent !== 0) end(row, keeps)
      return row.held - keeps
    },
    sweep(at) {
      for (const row of ended.all(at - sweepGraceMs, rowsPerSweep)) {
        table.remove(toRow(row))
        written.delete(String(row['account']))
      }
    },
    isIn: () => put,
    leave(reservedOf) {
      for (const row of ofWriter.all(own).map(check)) end(row, reservedOf(row.account))
    },
  }
}
