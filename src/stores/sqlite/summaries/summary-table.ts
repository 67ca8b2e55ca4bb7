import { hash } from 'node:crypto'
import { endianness } from 'node:os'
import type { DatabaseSync } from 'node:sqlite'
import { sqliteProblem } from '../base/sqlite-error.ts'
import { recordColumns, toStoredRecord } from '../records/stored-record.ts'
import type { Sealer } from '../seals/sealer.ts'
import { decodeSummary, encodeSummary, recordsPerSummary, summarize, type Summary } from './summary.ts'

const rowsPerPage = 64

export interface SummaryTableOptions {
  db: DatabaseSync
  sealer: Sealer
  /** How long writes wait for other processes. */
  busyTimeoutMs: number
}

/** A summary in the file, without what it says. */
export interface Row {
  number: number
  /** So many of its records have a body, or had one when they were counted. */
  bodies: number
  seal: string
}

interface Kept {
  summary: Summary
  bodies: number
}

interface Between {
  after: number
  before: number
  newestFirst: boolean
}

/** The summaries in a file. Each is written in a statement of its own. */
export function createSummaryTable({ db, sealer, busyTimeoutMs }: SummaryTableOptions) {
  let prepared: ReturnType<typeof prepareStatements> | undefined
  const statements = () => (prepared ??= prepareStatements(db))
  const sealOf = (tenant: string, number: number, bodies: number, value: Uint8Array): string =>
    sealer.seal('summary', endianness(), recordsPerSummary, tenant, number, bodies, hash('sha256', value))
  const read = (tenant: string, number: number): (Row & Kept & { value: Uint8Array }) | undefined => {
    const row = statements().read.get(tenant, number)
    const value = row?.['value']
    if (row === undefined || !(value instanceof Uint8Array)) return undefined
    const bodies = Number(row['bodies'])
    const seal = sealOf(tenant, number, bodies, value)
    return seal === row['seal'] ? { number, bodies, seal, value, summary: decodeSummary(value) } : undefined
  }
  /** Nobody waits for a summary: if another process holds the file, it is made another time. */
  const put = (tenant: string, number: number, bodies: number, value: Uint8Array): boolean => {
    db.exec('PRAGMA busy_timeout = 0')
    try {
      statements().put.run(tenant, number, bodies, sealOf(tenant, number, bodies, value), value)
      return true
    } catch (error) {
      if (sqliteProblem(error) === 'busy') return false
      throw error
    } finally {
      db.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    }
  }
  return {
    read,
    keep: (tenant: string, number: number, { summary, bodies }: Kept): boolean =>
      put(tenant, number, bodies, encodeSummary(summary)),
    /** The first part behind the last summary, and how many whole parts a chain has. */
    reach(tenant: string): { next: number; whole: number } {
      const row = statements().reach.get({ tenant, size: recordsPerSummary })
      return { next: Number(row?.['next']), whole: Number(row?.['whole']) }
    },
    /** A whole part without a summary. */
    due(): { tenant: string; number: number } | undefined {
      const row = statements().due.get({ size: recordsPerSummary })
      return row && { tenant: String(row['tenant']), number: Number(row['number']) }
    },
    build(tenant: string, number: number): Kept | undefined {
      const from = number * recordsPerSummary
      const rows = statements()
        .records.all(tenant, from, from + recordsPerSummary)
        .map(toStoredRecord)
      if (rows.length < recordsPerSummary) return undefined
      return { summary: summarize(rows), bodies: rows.filter(({ body }) => body !== null).length }
    },
    recount(tenant: string, number: number): void {
      const kept = read(tenant, number)
      if (kept === undefined) return
      const from = number * recordsPerSummary
      const row = statements().bodies.get(tenant, from, from + recordsPerSummary)
      put(tenant, number, Number(row?.['bodies']), kept.value)
    },
    *rows(tenant: string, { after, before, newestFirst }: Between): IterableIterator<Row> {
      let from = Math.floor(after / recordsPerSummary)
      let to = Math.floor((before - 2) / recordsPerSummary)
      for (;;) {
        const page = statements()
          [newestFirst ? 'newest' : 'oldest'].all(tenant, from, to, rowsPerPage)
          .map(toRow)
        yield* page
        const last = page.at(-1)
        if (last === undefined || page.length < rowsPerPage) return
        if (newestFirst) to = last.number - 1
        else from = last.number + 1
      }
    },
  }
}

function toRow({ number, bodies, seal }: Record<string, unknown>): Row {
  return { number: Number(number), bodies: Number(bodies), seal: String(seal) }
}

function prepareStatements(db: DatabaseSync) {
  const rows =
    'SELECT number, bodies, seal FROM summaries WHERE tenant = ? AND number BETWEEN ? AND ? ORDER BY number'
  const part = 'FROM records INDEXED BY records_sequence WHERE tenant = ? AND sequence > ? AND sequence <= ?'
  const records = db.prepare(`SELECT ${recordColumns} ${part} ORDER BY sequence`)
  records.setReturnArrays(true)
  return {
    records,
    oldest: db.prepare(`${rows} LIMIT ?`),
    newest: db.prepare(`${rows} DESC LIMIT ?`),
    read: db.prepare('SELECT bodies, seal, value FROM summaries WHERE tenant = ? AND number = ?'),
    put: db.prepare(
      'INSERT OR REPLACE INTO summaries (tenant, number, bodies, seal, value) VALUES (?, ?, ?, ?, ?)',
    ),
    bodies: db.prepare(`SELECT count(body) AS bodies ${part}`),
    reach: db.prepare(
      'SELECT (SELECT coalesce(max(number), -1) + 1 FROM summaries WHERE tenant = :tenant) AS next, ' +
        '(SELECT coalesce(max(sequence), 0) / :size FROM records WHERE tenant = :tenant) AS whole',
    ),
    due: db.prepare(
      'SELECT tenant, number FROM (SELECT tenant, CASE ' +
        'WHEN NOT EXISTS (SELECT 1 FROM summaries WHERE tenant = heads.tenant AND number = 0) THEN 0 ' +
        'ELSE (SELECT min(number) + 1 FROM summaries AS last WHERE tenant = heads.tenant AND NOT EXISTS ' +
        '(SELECT 1 FROM summaries WHERE tenant = last.tenant AND number = last.number + 1)) END AS number, sequence ' +
        'FROM heads WHERE sequence >= :size AND sequence / :size > (SELECT count(*) FROM summaries WHERE tenant = heads.tenant)) LIMIT 1',
    ),
  }
}
