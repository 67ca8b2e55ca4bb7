import type { StoredRecord } from '../../../contract/evidence.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'

/** Columns of a row that `toStoredRecord` reads, in order. */
export const recordColumns = 'tenant, sequence, text, lower(hex(hash)), body'

type Place = Pick<StoredRecord, 'kind' | 'session' | 'call'>

/** How the text of a record begins, where no name in it needs an escape. */
const usualStart =
  /^\{"kind":"(begin|end|note)"(?:,"event":"\w+")?,"tenant":"[^"\\]*","session":"([^"\\]*)","call":"([^"\\]*)",/

/** Reads a row, an array of the columns above. */
export function toStoredRecord(row: unknown): StoredRecord {
  const [tenant, sequence, text, hash, body] = row as [string, number, string, string, string | null]
  const [, kind, session, call] = usualStart.exec(text) ?? []
  if (kind === undefined || session === undefined || call === undefined)
    return { tenant, sequence, ...parsePlace(text), text, hash, body }
  // The pattern takes no other kind.
  return { tenant, sequence, kind: kind as Place['kind'], session, call, text, hash, body }
}

/** What is not a record any more is returned as a note that names nothing: verification reports what is wrong with it. */
function parsePlace(text: string): Place {
  const record = parse(text)
  const member = (name: keyof Place): string => {
    const value = record[name]
    return typeof value === 'string' ? value.toWellFormed() : ''
  }
  const kind = kinds.find((one) => one === member('kind')) ?? 'note'
  return { kind, session: member('session'), call: member('call') }
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
