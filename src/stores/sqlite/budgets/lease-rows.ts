import type { DatabaseSync } from 'node:sqlite'
import { sweepGraceMs } from '../../sweep-grace.ts'
import { createOpenReservations } from './open-reservations.ts'
import { createSealedTable, sealedTables, type Row } from '../seals/sealed-table.ts'
import type { SealedWrites } from '../seals/sealed-writes.ts'
import type { Writers } from '../base/writers.ts'

/** What this process has of an account, on its way into its row. */
export interface LeaseChange {
  account: string
  /** Units spent since the row was changed before; they are added. */
  spent: number
  held: number
  /** Milliseconds since the epoch, as everywhere here. */
  heldUntil: number
  endsAt: number
}

/** What others have of an account. */
export interface OtherLeases {
  /** By everybody, this process included. */
  spent: number
  held: number
  holders: { writer: string; held: number; heldUntil: number }[]
}

/**
 * One row for each account and process: what it spent, and what it holds. A process changes its own rows only, and takes over those of
 * processes that are gone. What was spent by those stands in a row of its own.
 */
export interface LeaseRows {
  read(account: string): OtherLeases
  /** Changes the row of this process. Call it inside a transaction. */
  put(change: LeaseChange): void
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

/** A row of the table. */
interface LeaseRow {
  account: string
  writer: string
  spent: number
  held: number
  heldUntil: number
  /** In milliseconds since the epoch; null for a budget in total. */
  endsAt: number | null
}

/** So many rows of this process are remembered. */
const rememberedRows = 1000

/** So many rows are removed at once at most. */
const rowsPerSweep = 64

export interface LeaseRowsOptions {
  db: DatabaseSync
  writers: Writers
  writes: SealedWrites
  /** Id of this process among the writers. */
  own: string
}

/** The writer in the row of no process, which holds what processes that are gone spent. */
const nobody = ''

/** The rows in this file. Throws `Tampered` for one that was not written with the key of the store. */
export function createLeaseRows({ db, writers, writes, own }: LeaseRowsOptions): LeaseRows {
  const table = createSealedTable(db, writes, sealedTables.shares)
  const select = 'SELECT account, writer, spent, held, held_until, ends_at, seal FROM shares WHERE'
  const ofAccount = db.prepare(`${select} account = ?`)
  const ofWriter = db.prepare(`${select} writer = ?`)
  const one = db.prepare(`${select} account = ? AND writer = ?`)
  const ended = db.prepare('SELECT account, writer FROM shares WHERE ends_at < ? ORDER BY ends_at LIMIT ?')
  const openReservations = createOpenReservations(db, writers)
  let hasRow = false
  /** Rows of this process, as it wrote them last. */
  const written = new Map<string, Pick<LeaseRow, 'spent' | 'endsAt'>>()
  writes.onOthers(() => written.clear())

  const find = (account: string, writer: string): LeaseRow | undefined => {
    const row = one.get(account, writer)
    return row === undefined ? undefined : toLeaseRow(table.verify(row))
  }
  const put = ({ account, writer, spent, held, heldUntil, endsAt }: LeaseRow): void =>
    table.put({ account, writer, spent, held, held_until: heldUntil, ends_at: endsAt })
  const end = (row: LeaseRow, held: number): void => {
    const { account, writer } = row
    const before = find(account, nobody)
    const endsAt = before === undefined ? row.endsAt : before.endsAt
    put({ account, writer: nobody, spent: (before?.spent ?? 0) + row.spent, held: 0, heldUntil: 0, endsAt })
    if (held === 0) table.remove({ account, writer })
    else put({ ...row, spent: 0, held })
  }
  return {
    read(account) {
      const others: OtherLeases = { spent: 0, held: 0, holders: [] }
      for (const row of ofAccount.all(account)) {
        const { writer, spent, held, heldUntil } = toLeaseRow(table.verify(row))
        others.spent += spent
        if (writer === own || held === 0) continue
        others.held += held
        others.holders.push({ writer, held, heldUntil })
      }
      return others
    },
    put({ account, spent, held, heldUntil, endsAt: end }) {
      hasRow = true
      const before = written.get(account) ?? find(account, own)
      const endsAt = before === undefined ? (Number.isFinite(end) ? end : null) : before.endsAt
      const total = (before?.spent ?? 0) + spent
      put({ account, writer: own, spent: total, held, heldUntil, endsAt })
      if (written.size >= rememberedRows) written.clear()
      written.set(account, { spent: total, endsAt })
    },
    isVoid: createVoidCheck(writers),
    leftOpen: (account, writer) => openReservations(writer, account),
    takeOver(account, writer) {
      const row = find(account, writer)
      if (row === undefined) return 0
      const held = Math.min(row.held, openReservations(writer, account))
      if (held < row.held || row.spent !== 0) end(row, held)
      return row.held - held
    },
    sweep(at) {
      for (const row of ended.all(at - sweepGraceMs, rowsPerSweep)) {
        table.remove(row)
        written.delete(String(row['account']))
      }
    },
    isIn: () => hasRow,
    leave(reservedOf) {
      for (const found of ofWriter.all(own)) {
        const row = toLeaseRow(table.verify(found))
        end(row, reservedOf(row.account))
      }
    },
  }
}

function toLeaseRow(row: Row): LeaseRow {
  return {
    account: String(row['account']),
    writer: String(row['writer']),
    spent: Number(row['spent']),
    held: Number(row['held']),
    heldUntil: Number(row['held_until']),
    endsAt: row['ends_at'] === null ? null : Number(row['ends_at']),
  }
}

/** Whether the process of a lease is gone. */
function createVoidCheck(writers: Writers): LeaseRows['isVoid'] {
  /** When a process was last seen to live, by the clock that only goes forward. */
  const seenAlive = new Map<string, number>()
  return ({ writer, heldUntil }, at, maxAgeMs) => {
    const hasLapsed = heldUntil <= at
    const now = performance.now()
    if (!hasLapsed && now - (seenAlive.get(writer) ?? Number.NEGATIVE_INFINITY) < maxAgeMs) return false
    const isGone = writers.isGone(writer, hasLapsed)
    if (isGone) seenAlive.delete(writer)
    else seenAlive.set(writer, now)
    return isGone
  }
}
