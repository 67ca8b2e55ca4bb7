import type { BudgetAnswer, BudgetRequest, ReservationItem } from '../../../contract/store.ts'
import type { LeaseRows } from './lease-rows.ts'
import type { Lease, Leases } from './leases.ts'
import { release, type ReservedUnits } from './reserved-units.ts'

type Refused = Exclude<BudgetAnswer, { state: 'reserved' }>

/** Reserves from what this process holds already; undefined if that is too little. */
export function reserveHeld({ items }: BudgetRequest, leases: Leases): ReservedUnits | undefined {
  const reserved: ReservedUnits = []
  for (const { account, limit, units } of items) {
    const lease = leases.find(account)
    if (lease === undefined || lease.limit !== limit || lease.held - lease.reserved < units) {
      release(reserved)
      return undefined
    }
    lease.reserved += units
    lease.used = true
    reserved.push({ lease, units })
  }
  return reserved
}

/**
 * Reserves from the file, for all items or none, and adds the units to `reserved`. Returns the leases as they are once that is committed.
 * Call it inside a transaction; if that fails, or the answer is a refusal, release `reserved`.
 */
export function reserveNew(
  { items, at, leaseMs }: BudgetRequest,
  reserved: ReservedUnits,
  { rows, leases }: { rows: LeaseRows; leases: Leases },
): Lease[] | Refused {
  const after: Lease[] = []
  for (const [index, item] of items.entries()) {
    const lease = leases.getOrOpen(item)
    const left = leftOf(item, lease, { rows, at })
    const units = Math.min(item.units, left)
    if (units < item.least) return { state: 'refused', item: index, left }
    lease.reserved += units
    reserved.push({ lease, units })
    const prefetch = prefetchOf(left - units, item.units)
    const held = lease.reserved + prefetch
    after.push({ ...lease, limit: item.limit, held, prefetch, heldUntil: at + leaseMs, leaseMs, used: true })
  }
  for (const lease of after) rows.put({ ...lease, spent: 0 })
  return after
}

/** What is left of an account beside what is reserved here. */
function leftOf(
  { account, limit, units }: ReservationItem,
  lease: Lease,
  { rows, at }: { rows: LeaseRows; at: number },
): number {
  const { spent, held, holders } = rows.read(account)
  let left = limit - spent - held - lease.reserved
  // Only when it runs short: asking which processes live costs more than all the rest.
  if (left < units)
    for (const holder of holders.filter((one) => rows.isVoid(one, at, 0))) {
      left += rows.takeOver(account, holder.writer)
    }
  return Math.max(0, left)
}

/**
 * How many units to hold for calls to come, if so many are left and a call takes so many: none unless there is room for a
 * thousand such calls, so that a small budget is never refused while an idle process holds some of it.
 */
function prefetchOf(left: number, units: number): number {
  const part = Math.floor(left / 64)
  return part < units * 16 ? 0 : Math.min(part, units * 64)
}
