import type { EvidenceRecord } from '../contract/evidence.ts'
import type { Entry } from '../contract/store.ts'

/** An entry with its exact text, on its way into a chain. */
export interface PreparedEntry {
  readonly record: EvidenceRecord
  readonly call: string
  readonly text: string
  readonly body: string | null
}

/** Fixes the text of an entry, so that a later change of the record does not reach the store. Throws where JSON cannot carry it. */
export function prepareEntry({ record, body, text }: Entry): PreparedEntry {
  const call = record.kind === 'checkpoint' ? '' : (record.call ?? '')
  return { record, call, text: text ?? JSON.stringify(record), body }
}
