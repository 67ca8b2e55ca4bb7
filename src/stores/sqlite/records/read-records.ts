import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { StoredRecord } from '../../../contract/evidence.ts'
import type { RecordQuery } from '../../../contract/store.ts'
import { hasOwnSession } from '../../own-session.ts'
import { recordColumns, toStoredRecord } from './stored-record.ts'

/** Records are read in pages, so that no statement stays open while the caller does something else. */
const recordsPerPage = 500

/** The records that a query asks for, ordered by tenant and sequence. */
export function* readRecords(db: DatabaseSync, query: RecordQuery): IterableIterator<StoredRecord> {
  if (query.call !== undefined) {
    yield* readCall(db, { ...query, call: query.call })
    return
  }
  const tenants = query.tenant === undefined ? readTenants(db) : [query.tenant]
  if (query.newestFirst === true) tenants.reverse()
  let left = query.limit ?? Number.POSITIVE_INFINITY
  for (const tenant of tenants) {
    if (left <= 0) return
    for (const record of readTenant(db, { ...query, tenant, limit: left })) {
      left--
      yield record
    }
  }
}

const bounds: { readonly [name: string]: string } = {
  after: '+sequence > :after',
  before: '+sequence < :before',
}

/** A call has few records, and no index orders them. */
function readCall(db: DatabaseSync, query: RecordQuery & { call: string }): StoredRecord[] {
  // Each half of the condition has an index of its own.
  const where = ["((call = :call AND kind = 'end') OR (call = :call AND kind <> 'end'))"]
  const values: Record<string, SQLInputValue> = { call: query.call, limit: query.limit ?? -1 }
  for (const name of ['tenant', 'session', 'kind', 'after', 'before'] as const) {
    const value = query[name]
    if (value === undefined) continue
    // The plus keeps the planner from taking the index of a whole tenant instead.
    where.push(bounds[name] ?? `+${name} = :${name}`)
    values[name] = value
  }
  const order = query.newestFirst === true ? 'DESC' : 'ASC'
  const statement = db.prepare(
    `SELECT ${recordColumns} FROM records WHERE ${where.join(' AND ')} ` +
      `ORDER BY tenant ${order}, sequence ${order} LIMIT :limit`,
  )
  statement.setReturnArrays(true)
  return statement.all(values).map(toStoredRecord)
}

function* readTenant(
  db: DatabaseSync,
  query: RecordQuery & { tenant: string; limit: number },
): IterableIterator<StoredRecord> {
  const newestFirst = query.newestFirst === true
  const isOwn = query.session !== undefined && !query.session.startsWith('ses_')
  const filters = (['session', 'kind'] as const).filter((name) => query[name] !== undefined)
  const statement = db.prepare(
    `SELECT ${recordColumns} FROM records WHERE tenant = ? AND sequence > ? AND sequence < ? ` +
      `${filters.map((name) => `AND ${name} = ? `).join('')}${isOwn ? `AND ${hasOwnSession} ` : ''}` +
      `ORDER BY sequence ${newestFirst ? 'DESC' : 'ASC'} LIMIT ?`,
  )
  statement.setReturnArrays(true)
  const values = filters.map((name) => query[name] ?? '')
  let after = query.after ?? 0
  let before = query.before ?? Number.MAX_SAFE_INTEGER
  let { limit: left } = query
  while (left > 0) {
    const size = Math.min(left, recordsPerPage)
    const page = statement.all(query.tenant, after, before, ...values, size).map(toStoredRecord)
    yield* page
    left -= page.length
    const last = page.at(-1)
    if (last === undefined || page.length < size) return
    if (newestFirst) before = last.sequence
    else after = last.sequence
  }
}

/** Every tenant with a record or a head, in order. Seeks from one to the next instead of reading all records. */
export function readTenants(db: DatabaseSync): string[] {
  const rows = db
    .prepare(
      'WITH RECURSIVE seek (tenant) AS (SELECT min(tenant) FROM records UNION ALL ' +
        'SELECT (SELECT min(tenant) FROM records WHERE tenant > seek.tenant) FROM seek WHERE seek.tenant IS NOT NULL) ' +
        'SELECT tenant FROM seek WHERE tenant IS NOT NULL UNION SELECT tenant FROM heads ORDER BY tenant',
    )
    .all()
  return rows.map((row) => String(row['tenant']))
}
