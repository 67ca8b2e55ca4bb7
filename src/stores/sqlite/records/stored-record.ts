import type { DatabaseSync } from 'node:sqlite'
import type { StoredRecord } from '../../../contract/evidence.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { packsOf, type PackReader } from '../packs/packed.ts'
import { stubOf } from '../packs/stub.ts'

/** Columns of a row that `createRowReader` reads, in order. */
export const recordColumns = 'tenant, sequence, text, lower(hex(hash)), body, packed'

type Place = Pick<StoredRecord, 'kind' | 'session' | 'call'>

/** How the text of a record begins, where no name in it needs an escape. */
const usualStart =
  /^\{"kind":"(begin|end|note)"(?:,"event":"\w+")?,"tenant":"[^"\\]*","session":"([^"\\]*)","call":"([^"\\]*)",/

type Row = [string, number, string, string, string | null, (number | null)?]

/** Reads rows, arrays of the columns above that a statement returned just now, and what is in packs. */
export function createRowReader(db: DatabaseSync): (rows: readonly unknown[]) => StoredRecord[] {
  const packs = packsOf(db)
  return (rows) => {
    packs.look()
    return rows.map((row) =>
      typeof (row as Row)[5] === 'number' ? toUnpacked(row as Row, packs) : toStoredRecord(row),
    )
  }
}

/** A row whose pack is gone, or is of another record, is returned as it stands: verification reports that it is not what was written. */
function toUnpacked([tenant, sequence, text, hash, body]: Row, packs: PackReader): StoredRecord {
  const found = packs.find(tenant, sequence)
  const record =
    found && toStoredRecord([tenant, sequence, found.text, found.hash, body === null ? null : found.body])
  return record !== undefined && stubOf(record) === text
    ? record
    : toStoredRecord([tenant, sequence, text, hash, null])
}

/** Reads a row whose record is in no pack. */
export function toStoredRecord(row: unknown): StoredRecord {
  const [tenant, sequence, text, hash, body] = row as Row
  const [, kind, session, call] = usualStart.exec(text) ?? []
  if (kind === undefined || session === undefined || call === undefined)
    return { tenant, sequence, ...parsePlace(text), text, hash, body }
  // The pattern takes no other kind.
  return { tenant, sequence, kind: kind as Place['kind'], session, call, text, hash, body }
}

/** What is not a record any more is returned as a note that names nothing: verification reports what is wrong with it. */
function parsePlace(text: string): Place {
  const record = parse(text)
  const kind = kinds.find((one) => one === memberOf(record, 'kind')) ?? 'note'
  return { kind, session: memberOf(record, 'session'), call: memberOf(record, 'call') }
}

/** A text that a record holds; empty if it does not, or if this is not a record any more. */
export function readMember(text: string, name: string): string {
  return memberOf(parse(text), name)
}

function memberOf(record: Record<string, unknown>, name: string): string {
  const value = record[name]
  return typeof value === 'string' ? value.toWellFormed() : ''
}

const kinds = ['begin', 'end', 'note', 'checkpoint'] as const

function parse(text: string): Record<string, unknown> {
  try {
    const record: unknown = JSON.parse(text)
    return isPlainObject(record) ? record : {}
  } catch {
    return {}
  }
}
