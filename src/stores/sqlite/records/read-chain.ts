import type { DatabaseSync } from 'node:sqlite'
import type { StoredRecord } from '../../../contract/evidence.ts'
import type { RecordQuery } from '../../../contract/store.ts'
import { hasOwnSession, isOwnSession } from '../../own-session.ts'
import { createRowReader, recordColumns } from './stored-record.ts'
import { toConditions } from './to-conditions.ts'

/** Records are read in pages, so that no statement stays open while the caller does something else. */
const recordsPerPage = 500

/** The records of one chain that a query asks for, in order. Those that it does not ask for are read too, but those of other sessions than one with an id of its own. */
export function* readChain(
  db: DatabaseSync,
  query: Omit<RecordQuery, 'call'> & { tenant: string },
): IterableIterator<StoredRecord> {
  const { tenant, session, newestFirst } = query
  const toRecords = createRowReader(db)
  const { where, values } = toConditions(query)
  // Written so, the condition has the index.
  if (isOwnSession(session)) where.push('session = :session', hasOwnSession)
  const statement = db.prepare(
    `SELECT ${recordColumns} FROM records INDEXED BY ${isOwnSession(session) ? 'records_session' : 'records_sequence'} ` +
      `WHERE ${['tenant = :tenant', 'sequence > :after', 'sequence < :before', ...where].join(' AND ')} ` +
      `ORDER BY sequence ${newestFirst === true ? 'DESC' : 'ASC'} LIMIT :size`,
  )
  statement.setReturnArrays(true)
  let { after = 0, before = Number.MAX_SAFE_INTEGER, limit: left = Number.POSITIVE_INFINITY } = query
  while (left > 0) {
    const size = Math.min(left, recordsPerPage)
    const page = toRecords(statement.all({ ...values, tenant, after, before, size }))
    yield* page
    left -= page.length
    const last = page.at(-1)
    if (last === undefined || page.length < size) return
    if (newestFirst === true) before = last.sequence
    else after = last.sequence
  }
}
