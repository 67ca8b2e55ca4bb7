import type { DatabaseSync } from 'node:sqlite'
import type { Writers } from './writers.ts'

/** What one writer has of an account. */
export interface ShareRow {
  account: string
  /** Units spent since the row was put before; they are added. */
  spent: number
  held: number
  heldUntil: number
  endsAt: number
}

/** The rows of all accounts; each process changes its own ones, and takes over those of processes that are gone. */
export interface ShareRows {
  /** What is spent from an account and held of it by others. What the dead held is free. Inside a transaction. */
  takenByOthers(account: string, at: number): number
  put(row: ShareRow): void
  total(account: string): { spent: number; held: number }
  /** Gives back what this process holds; what it spent stays. */
  leave(): void
}

/** The rows in this file; `own` is the id of this process among its writers. */
export function createShareRows(db: DatabaseSync, writers: Writers, own: string): ShareRows {
  const select = db.prepare('SELECT writer, spent, held FROM shares WHERE account = ?')
  const upsert = db.prepare(
    'INSERT INTO shares (account, writer, spent, held, held_until, ends_at) VALUES (?, ?, ?, ?, ?, ?) ' +
      'ON CONFLICT (account, writer) DO UPDATE SET spent = shares.spent + excluded.spent, held = excluded.held, ' +
      'held_until = excluded.held_until',
  )
  const sum = db.prepare(
    'SELECT coalesce(sum(spent), 0) AS spent, coalesce(sum(held), 0) AS held FROM shares WHERE account = ?',
  )
  const foldAll = db.prepare(
    "INSERT INTO shares (account, writer, spent, held, held_until, ends_at) SELECT account, '', spent, 0, 0, ends_at " +
      'FROM shares WHERE writer = ? ON CONFLICT (account, writer) DO UPDATE SET spent = shares.spent + excluded.spent',
  )
  const dropAll = db.prepare('DELETE FROM shares WHERE writer = ?')
  return {
    takenByOthers(account) {
      let taken = 0
      for (const row of select.all(account)) {
        const writer = String(row['writer'])
        taken += Number(row['spent'])
        if (writer !== own && writer !== '' && writers.lives(writer)) taken += Number(row['held'])
      }
      return taken
    },
    put({ account, spent, held, heldUntil, endsAt }) {
      upsert.run(account, own, spent, held, heldUntil, Number.isFinite(endsAt) ? endsAt : null)
    },
    total(account) {
      const row = sum.get(account)
      return { spent: Number(row?.['spent']), held: Number(row?.['held']) }
    },
    leave() {
      foldAll.run(own)
      dropAll.run(own)
    },
  }
}
