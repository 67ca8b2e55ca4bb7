import { hash } from 'node:crypto'
import { endianness } from 'node:os'
import { inKnownTables } from '../base/transaction.ts'
import { withoutWaiting } from '../base/without-waiting.ts'
import { prepareDue, type Part } from './due-part.ts'
import { decodeOutline, encodeOutline, partsPerOutline, type Outline, type PartOutline } from './outline.ts'
import type { SummaryTableOptions } from './summary-table.ts'
import { recordsPerSummary, type Shape } from './summary.ts'

/**
 * The outlines in a file: each says what is known of 16 parts of a chain, one after another, so that a process which begins to look for something
 * reads one in place of 16 summaries.
 */
export interface OutlineTable {
  /** What is known of these parts, in order. Undefined if they have none that was written by a process with the key of the store. */
  read(tenant: string, number: number): Outline | undefined
  /** Writes what is known of these parts, all of them. False if another process holds the file. */
  keep(tenant: string, number: number, parts: readonly PartOutline[]): boolean
  /** Parts that are whole, and have no outline. */
  due(): Part | undefined
}

/** The outlines in this file. Each is written in a statement of its own. */
export function createOutlineTable({ db, sealer, busyTimeoutMs }: SummaryTableOptions): OutlineTable {
  const shapes = new Map<string, Shape>()
  let prepared: ReturnType<typeof prepareStatements> | undefined
  const statements = () => (prepared ??= prepareStatements(db))
  let due: (() => Part | undefined) | undefined
  const sealOf = (tenant: string, number: number, value: Uint8Array): string =>
    sealer.seal(
      'outline in columns',
      endianness(),
      recordsPerSummary,
      partsPerOutline,
      tenant,
      number,
      hash('sha256', value),
    )
  return {
    read(tenant, number) {
      const row = statements().read.get(tenant, number)
      const value = row?.['value']
      if (!(value instanceof Uint8Array) || sealOf(tenant, number, value) !== row?.['seal']) return undefined
      return decodeOutline(value, shapes)
    },
    keep(tenant, number, parts) {
      const value = encodeOutline(parts)
      const write = () => statements().put.run(tenant, number, sealOf(tenant, number, value), value)
      return withoutWaiting(db, busyTimeoutMs, () => inKnownTables(db, write)) !== undefined
    },
    due: () => (due ??= prepareDue(db, 'outlines', recordsPerSummary * partsPerOutline))(),
  }
}

function prepareStatements(db: SummaryTableOptions['db']) {
  return {
    read: db.prepare('SELECT seal, value FROM outlines WHERE tenant = ? AND number = ?'),
    put: db.prepare('INSERT OR REPLACE INTO outlines (tenant, number, seal, value) VALUES (?, ?, ?, ?)'),
  }
}
