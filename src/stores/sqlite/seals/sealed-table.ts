import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import type { Sealer } from './sealer.ts'
import type { SealedWrites } from './sealed-writes.ts'
import type { SumName } from './sums.ts'
import { Tampered } from './tampered.ts'

/** A row as the database returns it, or takes it. */
export type Row = Readonly<Record<string, SQLOutputValue>>

export interface TableShape {
  name: 'facts' | 'keys' | 'shares' | 'documents'
  /** The sum that its rows are in. */
  sum: SumName
  /** Columns that name a row, and the others that are sealed with them. */
  names: readonly string[]
  values: readonly string[]
}

/** The tables whose rows count only with their seal. */
export const sealedTables = {
  facts: { name: 'facts', sum: 'facts', names: ['kind', 'tenant', 'id'], values: ['value'] },
  keys: {
    name: 'keys',
    sum: 'uses',
    names: ['tenant', 'tool', 'key'],
    values: ['input_digest', 'call', 'writer', 'expires_at', 'result'],
  },
  // Leases of budgets. The name of the table stays, since another one needs a migration.
  shares: {
    name: 'shares',
    sum: 'uses',
    names: ['account', 'writer'],
    values: ['spent', 'held', 'held_until', 'ends_at'],
  },
  documents: {
    name: 'documents',
    sum: 'uses',
    names: ['kind', 'tenant', 'within', 'id'],
    values: ['value'],
  },
} as const satisfies Record<string, TableShape>

/** The rows of such a table. All of it belongs into a transaction. */
export interface SealedTable {
  /** Returns a row that has its seal. Throws `Tampered` for one that was not written with the key of the store. */
  verify(row: Row): Row
  /** Writes a row, in place of one with the same name. */
  put(row: Row): void
  /** Removes the row with these names. */
  remove(names: Row): void
}

/** So many seals of rows that were written last are remembered. */
const rememberedSeals = 1000

/** A sealed table of this file. */
export function createSealedTable(db: DatabaseSync, writes: SealedWrites, shape: TableShape): SealedTable {
  const { name, names, values } = shape
  const { sealer, sums } = writes
  const named = names.map((column) => `${column} = ?`).join(' AND ')
  const select = db.prepare(`SELECT ${[...names, ...values].join(', ')}, seal FROM ${name} WHERE ${named}`)
  const upsert = db.prepare(
    `INSERT INTO ${name} (${[...names, ...values].join(', ')}, seal) VALUES (${[...names, ...values].map(() => '?').join(', ')}, ?) ` +
      `ON CONFLICT (${names.join(', ')}) DO UPDATE SET ${[...values, 'seal'].map((column) => `${column} = excluded.${column}`).join(', ')}`,
  )
  const drop = db.prepare(`DELETE FROM ${name} WHERE ${named}`)
  /** Seals of rows that this process wrote and that no other process can have written since. */
  const written = new Map<string, string>()
  writes.onOthers(() => written.clear())

  const sealOf = (key: string, name: readonly SQLOutputValue[]): string | undefined =>
    written.get(key) ?? goodSeal(shape, select.get(...name), sealer)
  return {
    verify(row) {
      if (goodSeal(shape, row, sealer) === undefined) throw new Tampered(describeRow(shape, row))
      return row
    },
    put(row) {
      const name = names.map((column) => row[column] ?? null)
      const key = JSON.stringify(name)
      const seal = sealRow(shape, row, sealer)
      sums.replace(shape.sum, sealOf(key, name), seal)
      upsert.run(...name, ...values.map((column) => row[column] ?? null), seal)
      if (written.size >= rememberedSeals) written.clear()
      written.set(key, seal)
    },
    remove(row) {
      const name = names.map((column) => row[column] ?? null)
      const key = JSON.stringify(name)
      const was = sealOf(key, name)
      written.delete(key)
      if (was !== undefined) sums.replace(shape.sum, was, undefined)
      drop.run(...name)
    },
  }
}

/** The seal of a row, which has all columns of its table. */
export function sealRow({ name, names, values }: TableShape, row: Row, sealer: Sealer): string {
  return sealer.seal(name, ...[...names, ...values].map((column) => row[column] ?? null))
}

/** The seal that a row has, where it is the right one; undefined for a row that was not written with the key. */
export function goodSeal(shape: TableShape, row: Row | undefined, sealer: Sealer): string | undefined {
  const seal = row && sealRow(shape, row, sealer)
  return seal === row?.['seal'] ? seal : undefined
}

/** A row that does not have its seal. */
export function describeRow({ name, names }: TableShape, row: Row): string {
  const about = names.map((column) => `${column} "${String(row[column])}"`).join(', ')
  return `the row of "${name}" with ${about} was written or changed by hand`
}
