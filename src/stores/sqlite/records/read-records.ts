import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { StoredRecord } from '../../../contract/evidence.ts'
import type { RecordQuery } from '../../../contract/store.ts'
import { createFinder, type Finder } from '../summaries/find-in-summary.ts'
import type { Stretch, Summaries } from '../summaries/summaries.ts'
import { startOf, type Summary } from '../summaries/summary.ts'
import { wordsFor } from '../../../kit/names/renamed-words.ts'
import { isOwnSession } from '../../own-session.ts'
import { readChain } from './read-chain.ts'
import { readTenants } from './read-tenants.ts'
import { createRowReader, readMember, recordColumns } from './stored-record.ts'
import { isOpenBegin, toConditions } from './to-conditions.ts'

/** A database whose records are read, and the summaries of them. */
export interface Readable {
  db: DatabaseSync
  summaries: Summaries
}

/** The records that a query asks for, ordered by tenant and sequence. */
export function* readRecords(from: Readable, query: RecordQuery): IterableIterator<StoredRecord> {
  if (query.call !== undefined) {
    yield* readCall(from.db, { ...query, call: query.call })
    return
  }
  const tenants = query.tenant === undefined ? readTenants(from.db) : [query.tenant]
  if (query.newestFirst === true) tenants.reverse()
  let left = query.limit ?? Number.POSITIVE_INFINITY
  for (const tenant of tenants) {
    if (left <= 0) return
    for (const record of readTenant(from, { ...query, tenant, limit: left })) {
      left--
      yield record
    }
  }
}

/** A call has few records, and no index orders them. */
function readCall(db: DatabaseSync, query: RecordQuery & { call: string }): StoredRecord[] {
  const { tenant, call, limit = -1, after, before, newestFirst } = query
  const toRecords = createRowReader(db)
  // Each half of the condition has an index of its own; the plus keeps the planner from taking another one instead.
  const { where, values } = toConditions(query)
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
  return toRecords(statement.all(named))
}

function* readTenant(
  { db, summaries }: Readable,
  query: RecordQuery & { tenant: string; limit: number },
): IterableIterator<StoredRecord> {
  if (isOwnSession(query.session) || asksOfPlaceOnly(query)) {
    yield* readChain(db, query)
    return
  }
  const finder = createFinder(query)
  const toRecords = createRowReader(db)
  const isMeant = eventFilter(query)
  const read = db.prepare(
    `SELECT ${recordColumns} FROM records WHERE tenant = ? AND sequence = ?${query.open === true ? ` AND ${isOpenBegin}` : ''}`,
  )
  read.setReturnArrays(true)
  let { limit: left } = query
  for (const { summary, after, before } of summaries.stretches({ ...query, fits: finder.fits })) {
    if (summary === undefined)
      for (const record of readChain(db, { ...query, after, before, limit: left })) {
        left--
        yield record
      }
    else
      for (const sequence of sequencesOf(finder, { summary, after, before }, query)) {
        const [record] = toRecords(read.all(query.tenant, sequence))
        if (record === undefined || !isMeant(record)) continue
        yield record
        if (--left === 0) return
      }
    if (left === 0) return
  }
}

function asksOfPlaceOnly(query: RecordQuery): boolean {
  const { session, kind, tool, actor, outcome, event, open, since, until } = query
  return [session, kind, tool, actor, outcome, event, open, since, until].every((each) => each === undefined)
}

/** Summaries by a Handrail that did not look at events say only that a record is a note. */
function eventFilter({ event }: RecordQuery): (record: StoredRecord) => boolean {
  const events = event === undefined ? undefined : wordsFor(event)
  return ({ text }) => events === undefined || events.includes(readMember(text, 'event'))
}

/** Where the records of a stretch are that a query asks for. */
function sequencesOf(
  finder: Finder,
  { summary, after, before }: Stretch & { summary: Summary },
  { newestFirst }: RecordQuery,
): number[] {
  const start = startOf(after)
  const sequences = finder.find(summary, after - start, before - 1 - start).map((place) => start + 1 + place)
  return newestFirst === true ? sequences.reverse() : sequences
}
