import type { EvidenceRecord } from '../../contract/evidence.ts'
import { isPlainObject } from '../json/is-plain-object.ts'
import { renameWord } from '../names/renamed-words.ts'

type RecordOf<Kind extends EvidenceRecord['kind']> = Extract<EvidenceRecord, { kind: Kind }>

/**
 * The record that a store returned as this text; with a kind, of a query for that kind. The text stays as it was
 * written, since the chain is over it; what is read from it has the words of now.
 */
export function readRecord(text: string): EvidenceRecord
export function readRecord<Kind extends EvidenceRecord['kind']>(text: string, kind: Kind): RecordOf<Kind>
export function readRecord(text: string): EvidenceRecord {
  // A store returns the text that was made from a record, of the kind that it was asked for.
  const record: EvidenceRecord & { event?: string; reason?: string; parentCall?: string } = JSON.parse(text)
  renameWord(record, 'event')
  renameWord(record, 'reason')
  if ('decision' in record && isPlainObject(record.decision)) renameWord(record.decision, 'layer')
  // The calls of programs had another word for it.
  if (record.kind === 'begin' && record.parentCall !== undefined) {
    record.partOf = { call: record.parentCall, part: record.toolCallId ?? record.call }
    delete record.parentCall
  }
  return record
}
