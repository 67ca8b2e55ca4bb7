import type { DatabaseSync } from 'node:sqlite'
import { createFinder } from '../summaries/find-in-summary.ts'
import { startOf } from '../summaries/summary.ts'
import type { Readable } from './read-records.ts'
import { createForgetBodies } from '../packs/forget-bodies.ts'
import { readTenants } from './read-tenants.ts'
import { member } from './to-conditions.ts'
import type { SealedWrites } from '../seals/sealed-writes.ts'

/** What to prune: bodies of records that were made before `at`, of one tenant or of all. */
export interface PruneOptions {
  tenant?: string
  /** Milliseconds since the epoch, like `now`. */
  at: number
  now: number
}

/** So many records are looked at in one transaction, so that other processes wait for moments only. */
const recordsPerTransaction = 500

/**
 * Removes bodies of old records, also from the free space of the file. Leaves those of calls that have not ended, and those of calls whose
 * key still answers with their result. Returns how many there were. What has no old body is not read.
 */
export function pruneBodies(from: Readable, writes: SealedWrites, options: PruneOptions): number {
  const { db } = from
  const tenants = options.tenant === undefined ? readTenants(db) : [options.tenant]
  // What is removed must not stay behind in the free space of a page.
  db.exec('PRAGMA secure_delete = ON')
  try {
    return tenants.reduce((sum, tenant) => sum + pruneTenant(from, writes, { ...options, tenant }), 0)
  } finally {
    db.exec('PRAGMA secure_delete = FAST')
  }
}

/** How many bodies would go. */
export function countPrunable(from: Readable, options: PruneOptions): number {
  const { db } = from
  const tenants = options.tenant === undefined ? readTenants(db) : [options.tenant]
  return tenants.reduce(
    (sum, tenant) => sum + selectOld(db, tenant, options)(findOld(from, tenant, options)).length,
    0,
  )
}

function pruneTenant(
  from: Readable,
  { heads, sums, write }: SealedWrites,
  options: PruneOptions & { tenant: string },
): number {
  const { tenant } = options
  const { db, summaries } = from
  const found = findOld(from, tenant, options)
  const select = selectOld(db, tenant, options)
  const clear = db.prepare('UPDATE records SET body = NULL WHERE tenant = ? AND sequence = ?')
  const forget = createForgetBodies(db)
  const prune = (page: readonly number[]): number => {
    const old = select(page)
    for (const sequence of old) clear.run(tenant, sequence)
    forget(tenant, old)
    if (old.length > 0) {
      heads.get(tenant).bodiless += old.length
      heads.write([tenant], sums.generation())
    }
    return old.length
  }
  const pruned = pagesOf(found).reduce((total, page) => total + write(() => prune(page)), 0)
  if (pruned > 0) summaries.recount(tenant, found)
  return pruned
}

/** Where the old records of a tenant are that may have a body. Only those that no summary tells of are read. */
function findOld({ db, summaries }: Readable, tenant: string, { at }: PruneOptions): number[] {
  const { find } = createFinder({})
  const read = db.prepare(
    'SELECT sequence FROM records INDEXED BY records_sequence WHERE tenant = ? AND sequence > ? AND sequence < ? ' +
      `AND body IS NOT NULL AND ${member('at')} < ?`,
  )
  return [...summaries.stretches({ tenant, until: at, withBody: true })].flatMap(
    ({ summary, after, before }) => {
      if (summary === undefined)
        return read.all(tenant, after, before, at).map(({ sequence }) => Number(sequence))
      const start = startOf(after)
      return find(summary, after - start, before - 1 - start)
        .filter((place) => (summary.made[place] ?? 0) < at - summary.from)
        .map((place) => start + 1 + place)
    },
  )
}

function pagesOf(sequences: readonly number[]): (readonly number[])[] {
  const pages = Math.ceil(sequences.length / recordsPerTransaction)
  return Array.from({ length: pages }, (_, index) =>
    sequences.slice(index * recordsPerTransaction, (index + 1) * recordsPerTransaction),
  )
}

/** Picks the records whose body may go, out of those at these places. */
function selectOld(
  db: DatabaseSync,
  tenant: string,
  { now }: PruneOptions,
): (page: readonly number[]) => number[] {
  const needed = readKeyedCalls(db, tenant, now)
  const select = db.prepare(
    "SELECT call FROM records WHERE tenant = ? AND sequence = ? AND body IS NOT NULL AND (kind NOT IN ('begin', 'end') " +
      'OR EXISTS (SELECT 1 FROM records AS ended WHERE ended.call = records.call AND ended.tenant = records.tenant ' +
      "AND ended.kind = 'end'))",
  )
  return (page) =>
    page.filter((sequence) => {
      const row = select.get(tenant, sequence)
      return row !== undefined && !needed.has(String(row['call']))
    })
}

/** Calls whose key has not expired. */
function readKeyedCalls(db: DatabaseSync, tenant: string, now: number): Set<string> {
  const rows = db.prepare('SELECT call FROM keys WHERE tenant = ? AND expires_at > ?').all(tenant, now)
  return new Set(rows.map((row) => String(row['call'])))
}
