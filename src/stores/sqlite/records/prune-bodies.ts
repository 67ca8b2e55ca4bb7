import type { DatabaseSync } from 'node:sqlite'
import { readHead } from './read-head.ts'
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
 * key still answers with their result. Returns how many there were.
 */
export function pruneBodies(
  db: DatabaseSync,
  writes: SealedWrites,
  { tenant, at, now }: PruneOptions,
): number {
  const tenants = tenant === undefined ? readTenants(db) : [tenant]
  // What is removed must not stay behind in the free space of a page.
  db.exec('PRAGMA secure_delete = ON')
  try {
    return tenants.reduce((sum, one) => sum + pruneTenant(db, writes, { tenant: one, at, now }), 0)
  } finally {
    db.exec('PRAGMA secure_delete = OFF')
  }
}

function pruneTenant(
  db: DatabaseSync,
  { heads, sums, write }: SealedWrites,
  { tenant, at, now }: PruneOptions & { tenant: string },
): number {
  // The end comes first: a call that takes a key after the keys were read ends behind it.
  const end = readHead(db, tenant)?.sequence ?? 0
  const needed = readKeyedCalls(db, tenant, now)
  const select = db.prepare(
    "SELECT position, sequence, call, body IS NOT NULL AND json_extract(text, '$.at') < :at AND (kind NOT IN ('begin', 'end') " +
      'OR EXISTS (SELECT 1 FROM records AS ended WHERE ended.call = records.call AND ended.tenant = records.tenant ' +
      "AND ended.kind = 'end')) AS old FROM records " +
      'WHERE tenant = :tenant AND sequence > :after AND sequence <= :end ORDER BY sequence LIMIT :limit',
  )
  const clear = db.prepare('UPDATE records SET body = NULL WHERE position = ?')
  const pruneAfter = (after: number): { last: number | undefined; pruned: number } => {
    const rows = select.all({ tenant, at, after, end, limit: recordsPerTransaction })
    const old = rows.filter((row) => row['old'] === 1 && !needed.has(String(row['call'])))
    for (const { position } of old) clear.run(Number(position))
    if (old.length > 0) {
      heads.get(tenant).bodiless += old.length
      heads.write([tenant], sums.generation())
    }
    const last = rows.at(-1)
    return { last: last && Number(last['sequence']), pruned: old.length }
  }
  let sum = 0
  for (let after: number | undefined = 0; after !== undefined;) {
    const start: number = after
    const { last, pruned } = write(() => pruneAfter(start))
    sum += pruned
    after = last
  }
  return sum
}

/** Calls whose key has not expired. */
function readKeyedCalls(db: DatabaseSync, tenant: string, now: number): Set<string> {
  const rows = db.prepare('SELECT call FROM keys WHERE tenant = ? AND expires_at > ?').all(tenant, now)
  return new Set(rows.map((row) => String(row['call'])))
}
