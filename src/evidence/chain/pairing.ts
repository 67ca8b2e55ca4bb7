import type { ChainIssue, StoredRecord } from '../../contract/evidence.ts'

/** Whether every begin has one end and every end its begin, in one tenant. Memory grows with the open calls only. */
export interface Pairing {
  /** Says that the chain starts later than the evidence did, so that ends may stand without their begins. */
  startLate(late: boolean): void
  /** Takes the next record in order. */
  add(record: StoredRecord): ChainIssue | undefined
  /** Sequences of the calls that have begun and not ended. */
  open(): ReadonlyMap<string, number>
  calls(): number
}

/** No records yet. */
export function createPairing(tenant: string): Pairing {
  const open = new Map<string, number>()
  let late = false
  let calls = 0
  const secondBegin = (sequence: number, call: string): ChainIssue => {
    const message = `The call "${call}" begins at ${open.get(call)} and at ${sequence} again.`
    return { tenant, sequence, call, problem: 'second_begin', message }
  }
  return {
    startLate(value) {
      late = value
    },
    add({ kind, call, sequence }) {
      if (kind === 'begin') {
        if (open.has(call)) return secondBegin(sequence, call)
        open.set(call, sequence)
        calls++
      }
      if (kind !== 'end' || open.delete(call) || late) return undefined
      const message = `The call "${call}" ends at ${sequence} without having begun, or ends twice.`
      return { tenant, sequence, call, problem: 'end_without_begin', message }
    },
    open: () => open,
    calls: () => calls,
  }
}
