import { ToolFailure } from '../contract/base/errors.ts'
import type { EvidenceRecord } from '../contract/evidence.ts'
import type { DocumentChange, DocumentQuery } from '../contract/documents.ts'
import type { FactChange } from '../contract/store.ts'

/** Whether a record says what a person found out about the outcome of a call. There is one such record for a call at most. */
export function isFinding(record: EvidenceRecord): boolean {
  return record.kind === 'note' && record.event === 'outcome_resolved'
}

/** Another writer changed a fact before this one could. */
export function changedFact({ kind, id }: FactChange): ToolFailure {
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'fact_changed',
    message: `The ${kind} "${id}" was changed by another writer before this could be written. Nothing was written.`,
  })
}

/** Another writer changed a document before this one could. */
export function changedDocument({ kind, id }: DocumentChange): ToolFailure {
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'document_changed',
    message: `The ${kind} "${id}" was changed by another writer before this could be written. Nothing was written.`,
  })
}

/** Refuses a query that no index answers. */
export function checkDocumentQuery({ kind, group, id }: DocumentQuery): void {
  if (id !== undefined && group === undefined)
    throw new TypeError(`The ${kind} "${id}" can only be looked up in its group: name the group, too.`)
}

export function secondFinding(call: string): ToolFailure {
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
    message: `What was found out about the call "${call}" is not recorded: it was resolved before.`,
  })
}
