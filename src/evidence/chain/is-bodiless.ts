import type { StoredRecord } from '../../contract/evidence.ts'

/** Whether the body of a record is not there, although there was one. Input that does not fit its tool is not kept. */
export function isBodiless({ kind, body, text }: StoredRecord): boolean {
  // A quote inside a JSON string is escaped, so this stands only if it means what it says.
  return body === null && (kind === 'end' || (kind === 'begin' && !text.includes('"input":"",')))
}
