import type { ChainFault, StoredRecord, Verification } from '../contract/evidence.ts'
import type { Store } from '../contract/store.ts'
import { chainLink } from '../kit/digest.ts'
import { createPairing, type Pairing } from './pairing.ts'
import { toFault } from './to-fault.ts'
import { verifyText } from './verify-text.ts'

/**
 * Reads every record of one tenant, or of all, and gives the first thing that is wrong: a record that was changed, removed,
 * inserted or moved, a cut-off end, a column or body that is not what its record says, an end without its begin, a begin that a
 * dead process left open. Records that are written meanwhile are no fault.
 */
export function verifyEvidence(store: Store, { tenant }: { tenant?: string } = {}): Verification {
  const tenants = tenant === undefined ? store.tenants() : [tenant]
  const total = { records: 0, calls: 0 }
  for (const name of tenants) {
    const pairing = createPairing(name)
    const fault = verifyTenant(store, { tenant: name, pairing, total }) ?? pairing.findOpen(store)
    total.calls += pairing.calls()
    if (fault !== undefined) return { ok: false, ...total, fault }
  }
  return { ok: true, ...total }
}

interface Walk {
  tenant: string
  pairing: Pairing
  total: { records: number }
}

function verifyTenant(store: Store, { tenant, pairing, total }: Walk): ChainFault | undefined {
  const headBefore = store.head(tenant)
  let last: StoredRecord | undefined
  for (const record of store.records({ tenant })) {
    if (last === undefined && !store.durable) pairing.startLate(record.sequence > 1)
    const fault =
      verifyPlace(store, last, record) ??
      verifyHead(headBefore, record) ??
      verifyText(record) ??
      pairing.add(record)
    if (fault !== undefined) return fault
    total.records++
    last = record
  }
  // Others may have written since, so the end lies between the head of then and the head of now.
  const reached = last?.sequence ?? 0
  const headAfter = store.head(tenant)
  if ((headBefore?.sequence ?? 0) <= reached && reached <= (headAfter?.sequence ?? 0)) return undefined
  return toFault(
    { tenant, sequence: reached + 1, call: '' },
    'truncated',
    `The chain ends at ${reached}, and the store says that it ends at ${headAfter?.sequence ?? 0}: records were cut off or added.`,
  )
}

/** Whether the record that was the last one is the one whose hash the store keeps beside the records. */
function verifyHead(head: ReturnType<Store['head']>, record: StoredRecord): ChainFault | undefined {
  if (head === undefined || record.sequence !== head.sequence || record.hash === head.hash) return undefined
  return toFault(
    record,
    'changed',
    `The record ${record.sequence} was changed together with its hash: the store says that the chain ends with another one.`,
  )
}

/** Whether the record stands where it belongs: after `last`, or at the start. */
function verifyPlace(
  store: Store,
  last: StoredRecord | undefined,
  record: StoredRecord,
): ChainFault | undefined {
  if (last === undefined && !store.durable) return undefined
  const expected = (last?.sequence ?? 0) + 1
  if (record.sequence !== expected)
    return toFault(
      { ...record, sequence: expected },
      'missing',
      `The record ${expected} is missing; ${record.sequence} follows.`,
    )
  const previous = last?.hash ?? ''
  if (chainLink(previous, record.text) === record.hash) return undefined
  if (findMoved(store, record, previous))
    return toFault(record, 'reordered', `The record ${record.sequence} stands at the place of another one.`)
  return toFault(
    record,
    'changed',
    `The record ${record.sequence} is not the one that was written: it, or the one before it, was changed, removed or inserted.`,
  )
}

/** So many records after a broken link are looked at for the one that belongs there. */
const moveWindow = 1000

function findMoved(store: Store, { tenant, sequence }: StoredRecord, previous: string): boolean {
  for (const { text, hash } of store.records({ tenant, after: sequence, limit: moveWindow }))
    if (chainLink(previous, text) === hash) return true
  return false
}
