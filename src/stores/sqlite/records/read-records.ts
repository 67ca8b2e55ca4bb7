import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { StoredRecord } from '../../../contract/evidence.ts'
import type { RecordQuery } from '../../../contract/store.ts'
import { recordColumns, toStoredRecord } from './stored-record.ts'
import { toConditions } from './to-conditions.ts'

/** Records are read in pages, so that no statement stays open while the caller does something else. */
const recordsPerPage = 500
/** Of a time that begins later than so many records from the end, its first record is not looked for. */
const mostSince = 20_000

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

/** A call has few records, and no index orders them. */
function readCall(db: DatabaseSync, query: RecordQuery & { call: string }): StoredRecord[] {
  const { tenant, call, limit = -1, after, before, newestFirst } = query
  // Each half of the condition has an index of its own; the plus keeps the planner from taking another one instead.
  const { where, values } = toConditions(query, '+')
  const bounds: [string, SQLInputValue | undefined][] = [
    ['+tenant = :tenant', tenant],
    ['+sequence > :after', after],
    ['+sequence < :before', before],
  ]
  const named: Record<string, SQLInputValue> = { ...values, call, limit }
  for (const [condition, value] of bounds) {
    if (value === undefined) continue
    where.push(condition)
    named[condition.slice(condition.indexOf(':') + 1)] = value
  }
  const order = newestFirst === true ? 'DESC' : 'ASC'
  const statement = db.prepare(
    `SELECT ${recordColumns} FROM records ` +
      `WHERE ${["((call = :call AND kind = 'end') OR (call = :call AND kind <> 'end'))", ...where].join(' AND ')} ` +
      `ORDER BY tenant ${order}, sequence ${order} LIMIT :limit`,
  )
  statement.setReturnArrays(true)
  return statement.all(named).map(toStoredRecord)
}

function* readTenant(
  db: DatabaseSync,
  query: RecordQuery & { tenant: string; limit: number },
): IterableIterator<StoredRecord> {
  const { tenant } = query
  const newestFirst = query.newestFirst === true
  const { where, values } = toConditions(query)
  const statement = db.prepare(
    `SELECT ${recordColumns} FROM records INDEXED BY ${indexFor(query)} ` +
      `WHERE ${['tenant = :tenant', 'sequence > :after', 'sequence < :before', ...where].join(' AND ')} ` +
      `ORDER BY sequence ${newestFirst ? 'DESC' : 'ASC'} LIMIT :size`,
  )
  statement.setReturnArrays(true)
  let after = Math.max(query.after ?? 0, query.since === undefined ? 0 : findBefore(db, tenant, query.since))
  let before = query.before ?? Number.MAX_SAFE_INTEGER
  let { limit: left } = query
  while (left > 0) {
    const size = Math.min(left, recordsPerPage)
    const page = statement.all({ ...values, tenant, after, before, size }).map(toStoredRecord)
    yield* page
    left -= page.length
    const last = page.at(-1)
    if (last === undefined || page.length < size) return
    if (newestFirst) before = last.sequence
    else after = last.sequence
  }
}

/** The index that has the fewest records to pass by. Each of them is ordered by sequence. */
function indexFor({ session, kind, outcome }: RecordQuery): string {
  if (session !== undefined) return 'records_session'
  if (kind === 'note') return 'records_note'
  if (kind === 'begin') return 'records_begun'
  return kind === 'end' && outcome !== undefined && outcome !== 'ok' ? 'records_bad' : 'records_sequence'
}

/** A place in the chain before all records of a time; 0 if that is not near the end, so that there is little to pass by. */
function findBefore(db: DatabaseSync, tenant: string, since: number): number {
  const [row] = db
    .prepare(
      'SELECT sequence FROM records WHERE position = (SELECT CASE WHEN count(*) < :most THEN min(position) END FROM ' +
        '(SELECT position FROM records INDEXED BY records_at WHERE tenant = :tenant AND at >= :since LIMIT :most))',
    )
    .all({ tenant, since, most: mostSince })
  if (row !== undefined) return Number(row['sequence']) - 1
  const isEmpty = db.prepare('SELECT 1 FROM records WHERE tenant = ? AND at >= ? LIMIT 1').get(tenant, since)
  return isEmpty === undefined ? Number.MAX_SAFE_INTEGER : 0
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
