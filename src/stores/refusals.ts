import { ToolFailure } from '../contract/base/errors.ts'
import type { EvidenceRecord } from '../contract/evidence.ts'
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

export function secondFinding(call: string): ToolFailure {
  return new ToolFailure({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
    message: `What was found out about the call "${call}" is not recorded: it was resolved before.`,
  })
}
