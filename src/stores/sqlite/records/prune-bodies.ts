import type { DatabaseSync } from 'node:sqlite'
import { readTenants } from './read-records.ts'
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
export function pruneBodies(db: DatabaseSync, writes: SealedWrites, options: PruneOptions): number {
  const tenants = options.tenant === undefined ? readTenants(db) : [options.tenant]
  // What is removed must not stay behind in the free space of a page.
  db.exec('PRAGMA secure_delete = ON')
  try {
    return tenants.reduce((sum, tenant) => sum + pruneTenant(db, writes, { ...options, tenant }), 0)
  } finally {
    db.exec('PRAGMA secure_delete = OFF')
  }
}

/** How many bodies would go. */
export function countPrunable(db: DatabaseSync, options: PruneOptions): number {
  const tenants = options.tenant === undefined ? readTenants(db) : [options.tenant]
  return tenants.reduce(
    (sum, tenant) => sum + selectOld(db, tenant, options)(findOld(db, tenant, options)).length,
    0,
  )
}

function pruneTenant(
  db: DatabaseSync,
  { heads, sums, write }: SealedWrites,
  options: PruneOptions & { tenant: string },
): number {
  const { tenant } = options
  const pages = pagesOf(findOld(db, tenant, options))
  const select = selectOld(db, tenant, options)
  const clear = db.prepare('UPDATE records SET body = NULL WHERE position = ?')
  const prune = (page: readonly number[]): number => {
    const old = select(page)
    for (const position of old) clear.run(position)
    if (old.length > 0) {
      heads.get(tenant).bodiless += old.length
      heads.write([tenant], sums.generation())
    }
    return old.length
  }
  return pages.reduce((total, page) => total + write(() => prune(page)), 0)
}

/** Where the old records of a tenant are that have a body, out of the index alone. */
function findOld(db: DatabaseSync, tenant: string, { at }: PruneOptions): number[] {
  const statement = db.prepare(
    'SELECT position FROM records INDEXED BY records_at WHERE tenant = ? AND at < ? AND (body IS NULL) = 0',
  )
  return statement
    .all(tenant, at)
    .map(({ position }) => Number(position))
    .toSorted((one, other) => one - other)
}

function pagesOf(positions: readonly number[]): (readonly number[])[] {
  const pages = Math.ceil(positions.length / recordsPerTransaction)
  return Array.from({ length: pages }, (_, index) =>
    positions.slice(index * recordsPerTransaction, (index + 1) * recordsPerTransaction),
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
    "SELECT call FROM records WHERE position = ? AND body IS NOT NULL AND (kind NOT IN ('begin', 'end') " +
      'OR EXISTS (SELECT 1 FROM records AS ended WHERE ended.call = records.call AND ended.tenant = records.tenant ' +
      "AND ended.kind = 'end'))",
  )
  return (page) =>
    page.filter((position) => {
      const row = select.get(position)
      return row !== undefined && !needed.has(String(row['call']))
    })
}

/** Calls whose key has not expired. */
function readKeyedCalls(db: DatabaseSync, tenant: string, now: number): Set<string> {
  const rows = db.prepare('SELECT call FROM keys WHERE tenant = ? AND expires_at > ?').all(tenant, now)
  return new Set(rows.map((row) => String(row['call'])))
}
