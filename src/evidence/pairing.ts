import type { ChainFault, StoredRecord } from '../contract/evidence.ts'
import type { Store } from '../contract/store.ts'

/** Whether every begin has one end and every end its begin, in one tenant. Memory grows with the open calls only. */
export interface Pairing {
  /** Says that the chain starts later than the evidence did, so that ends may stand without their begins. */
  startLate(late: boolean): void
  /** Takes the next record in order. */
  add(record: StoredRecord): ChainFault | undefined
  /** The first begin that a dead process left open. */
  findOpen(store: Store): ChainFault | undefined
  calls(): number
}

/** No records yet. */
export function createPairing(tenant: string): Pairing {
  const open = new Map<string, number>()
  let late = false
  let calls = 0
  return {
    startLate(value) {
      late = value
    },
    add({ kind, call, sequence }) {
      if (kind === 'begin') {
        open.set(call, sequence)
        calls++
      }
      if (kind !== 'end' || open.delete(call) || late) return undefined
      const message = `The call "${call}" ends at ${sequence} without having begun, or ends twice.`
      return { tenant, sequence, call, problem: 'end_without_begin', message }
    },
    findOpen(store) {
      if (open.size === 0) return undefined
      for (const orphan of store.orphans()) {
        const sequence = orphan.tenant === tenant ? open.get(orphan.call) : undefined
        if (sequence === undefined) continue
        const message = `The call "${orphan.call}" began at ${sequence} and its process is gone; recovery has not closed it yet.`
        return { tenant, sequence, call: orphan.call, problem: 'open_begin', message }
      }
      return undefined
    },
    calls: () => calls,
  }
}
