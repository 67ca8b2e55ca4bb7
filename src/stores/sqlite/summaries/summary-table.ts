import { hash } from 'node:crypto'
import { endianness } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { inKnownTables } from '../base/transaction.ts'
import { withoutWaiting } from '../base/without-waiting.ts'
import { packsOf } from '../packs/packed.ts'
import type { Sealer } from '../seals/sealer.ts'
import { prepareDue, type Part } from './due-part.ts'
import {
  decodeSummary,
  encodeSummary,
  recordsPerSummary,
  summarize,
  type Shape,
  type Summary,
} from './summary.ts'

export interface SummaryTableOptions {
  db: DatabaseSync
  sealer: Sealer
  /** How long writes wait for other processes. */
  busyTimeoutMs: number
}

/** The summaries in a file: each says something of the part of a chain with its number, and how many records in it have a body. */
export interface SummaryTable {
  /** Undefined if there is none, or none that was written by a process with the key of the store. */
  read(tenant: string, number: number): Found | undefined
  /** Makes one out of the records. Undefined if the part is not whole. */
  make(tenant: string, number: number): Found | undefined
  /** Writes what was made. False if another process holds the file. */
  keep(tenant: string, number: number, made: Found): boolean
  /** Counts the bodies of a part again. Returns how many it has; undefined if it has no summary. */
  recount(tenant: string, number: number): number | undefined
  /** How many whole parts a chain has. */
  whole(tenant: string): number
  /** A whole part without a summary. */
  due(): Part | undefined
}

interface Kept {
  bodies: number
  value: Uint8Array
}

/** A summary, and how many of its records have a body. */
export interface Found extends Kept {
  summary: Summary
}

/** The summaries in this file. Each is written in a statement of its own. */
export function createSummaryTable({ db, sealer, busyTimeoutMs }: SummaryTableOptions): SummaryTable {
  const shapes = new Map<string, Shape>()
  const packs = packsOf(db)
  let prepared: ReturnType<typeof prepareStatements> | undefined
  const statements = () => (prepared ??= prepareStatements(db))
  const sealOf = (tenant: string, number: number, { bodies, value }: Kept): string =>
    sealer.seal('summary', endianness(), recordsPerSummary, tenant, number, bodies, hash('sha256', value))
  const read: SummaryTable['read'] = (tenant, number) => {
    const row = statements().read.get(tenant, number)
    const value = row?.['value']
    if (row === undefined || !(value instanceof Uint8Array)) return undefined
    const bodies = Number(row['bodies'])
    if (sealOf(tenant, number, { bodies, value }) !== row['seal']) return undefined
    return { bodies, value, summary: decodeSummary(value, shapes) }
  }
  /** No reader waits for a summary: if another process holds the file, it is written another time. */
  const put = (tenant: string, number: number, kept: Kept): boolean => {
    const seal = sealOf(tenant, number, kept)
    const write = () => statements().put.run(tenant, number, kept.bodies, seal, kept.value)
    return withoutWaiting(db, busyTimeoutMs, () => inKnownTables(db, write)) !== undefined
  }
  const placesOf = (number: number): [number, number] => [
    number * recordsPerSummary,
    (number + 1) * recordsPerSummary,
  ]
  return {
    read,
    make(tenant, number) {
      const rows = statements().records.all(tenant, ...placesOf(number))
      if (rows.length < recordsPerSummary) return undefined
      packs.look()
      let bodies = 0
      const texts = rows.map((row) => {
        const [sequence, text, hasBody, packed] = Object.values(row)
        if (hasBody === 1) bodies++
        return packed === null ? String(text) : (packs.find(tenant, Number(sequence))?.text ?? '')
      })
      const value = encodeSummary(summarize(texts))
      return { bodies, value, summary: decodeSummary(value, shapes) }
    },
    keep: put,
    recount(tenant, number) {
      const kept = read(tenant, number)
      if (kept === undefined) return undefined
      const bodies = Number(statements().bodies.get(tenant, ...placesOf(number))?.['bodies'])
      put(tenant, number, { bodies, value: kept.value })
      return bodies
    },
    whole: (tenant) => Number(statements().whole.get(tenant)?.['whole']),
    due: () => statements().due(),
  }
}

function prepareStatements(db: DatabaseSync) {
  const part = 'FROM records INDEXED BY records_sequence WHERE tenant = ? AND sequence > ? AND sequence <= ?'
  const records = db.prepare(
    `SELECT sequence, text, body IS NOT NULL AS has_body, packed ${part} ORDER BY sequence`,
  )
  records.setReturnArrays(true)
  return {
    records,
    read: db.prepare('SELECT bodies, seal, value FROM summaries WHERE tenant = ? AND number = ?'),
    put: db.prepare(
      'INSERT OR REPLACE INTO summaries (tenant, number, bodies, seal, value) VALUES (?, ?, ?, ?, ?)',
    ),
    bodies: db.prepare(`SELECT count(body) AS bodies ${part}`),
    whole: db.prepare(
      `SELECT coalesce(max(sequence), 0) / ${recordsPerSummary} AS whole FROM records WHERE tenant = ?`,
    ),
    due: prepareDue(db, 'summaries', recordsPerSummary),
  }
}
