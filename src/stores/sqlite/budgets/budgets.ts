import type { DatabaseSync } from 'node:sqlite'
import type { BudgetAnswer, BudgetRequest, BudgetSettlement } from '../../../contract/store.ts'
import type { Writers } from '../base/writers.ts'
import type { SealedWrites } from '../seals/sealed-writes.ts'
import { createLeaseRows } from './lease-rows.ts'
import { createLeases, wanted, type Lease } from './leases.ts'
import { reserveHeld, reserveNew } from './reserve-units.ts'
import { release, sumUp, type ReservedUnits } from './reserved-units.ts'

/** Budgets of a file: what was spent from each account, and what each process holds of it. */
export interface Budgets {
  reserve(request: BudgetRequest): BudgetAnswer
  refund(call: string): void
  balance(account: string, at: number): { spent: number; reserved: number }
  /** Writes what calls spent. Call it inside a transaction, and what it returns once that is committed. */
  settle(settlements: readonly BudgetSettlement[]): () => void
  /** Releases everything that this process holds. */
  close(): void
}

export interface BudgetsOptions {
  db: DatabaseSync
  writers: Writers
  writes: SealedWrites
  /** Id of this process among the writers. */
  own: string
  /** Milliseconds since the epoch. */
  now: () => number
}

/** A balance may count what a process held that died a moment ago: it is asked for more often than processes die. */
const balanceAgeMs = 50
/** Every so many reservations in the file, rows of windows that ended are removed. */
const reservationsPerSweep = 64

/** The budgets of this file. */
export function createBudgets({ db, writers, writes, own, now }: BudgetsOptions): Budgets {
  const rows = createLeaseRows({ db, writers, writes, own })
  const leases = createLeases(rows, writers, now)
  const reservations = new Map<string, ReservedUnits>()
  let sinceSweep = 0

  const reserveInFile = (request: BudgetRequest): ReservedUnits | BudgetAnswer => {
    const reserved: ReservedUnits = []
    let after: ReturnType<typeof reserveNew> | undefined
    try {
      after = writers.write(() => {
        if (++sinceSweep % reservationsPerSweep === 0) rows.sweep(request.at)
        return reserveNew(request, reserved, { rows, leases })
      })
    } finally {
      if (!Array.isArray(after)) release(reserved)
    }
    if (!Array.isArray(after)) return after
    for (const lease of after) Object.assign(leases.getOrOpen(lease), lease)
    return reserved
  }
  return {
    reserve(request) {
      const reserved = reserveHeld(request, leases) ?? reserveInFile(request)
      if (!Array.isArray(reserved)) return reserved
      const before = reservations.get(request.call)
      reservations.set(request.call, before === undefined ? reserved : [...before, ...reserved])
      return { state: 'reserved', given: reserved.map(({ units }) => units) }
    },
    refund(call) {
      const reserved = reservations.get(call)
      if (reserved === undefined) return
      reservations.delete(call)
      release(reserved)
      const changes = [...new Set(reserved.map(({ lease }) => lease))]
        .filter((lease) => lease.held > wanted(lease))
        .map((lease) => ({ lease, held: wanted(lease), heldUntil: lease.heldUntil }))
      try {
        leases.hold(changes)
      } catch {
        // The call has nothing any more; what the file did not take now, it takes with the next renewal.
      }
    },
    balance(account, at) {
      const { spent, holders } = rows.read(account)
      const reserved = holders.reduce(
        (sum, one) =>
          sum + (rows.isVoid(one, at, balanceAgeMs) ? rows.leftOpen(account, one.writer) : one.held),
        0,
      )
      return { spent, reserved: reserved + (leases.find(account)?.reserved ?? 0) }
    },
    settle(settlements) {
      const after: { lease: Lease; held: number; reserved: number }[] = []
      for (const [account, { spent, released, endsAt }] of sumUp(settlements, reservations)) {
        const lease = leases.getOrOpen({ account, limit: 0, endsAt })
        const reserved = lease.reserved - released
        const held = Math.max(reserved, Math.min(lease.held - spent, reserved + lease.prefetch))
        rows.put({ ...lease, held, spent })
        after.push({ lease, held, reserved })
      }
      return () => {
        for (const { lease, held, reserved } of after) Object.assign(lease, { held, reserved })
        for (const { call } of settlements) reservations.delete(call)
      }
    },
    close() {
      leases.stop()
      if (rows.isIn()) writers.write(() => rows.leave((account) => leases.find(account)?.reserved ?? 0))
    },
  }
}
