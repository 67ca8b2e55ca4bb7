import type { BudgetSettlement } from '../../../contract/store.ts'
import type { Lease } from './leases.ts'

/** Units that one call has reserved, and the leases that they are of. */
export type ReservedUnits = { readonly lease: Lease; readonly units: number }[]

/** Lets other calls have the units. */
export function release(reserved: ReservedUnits): void {
  for (const { lease, units } of reserved) lease.reserved -= units
}

interface Sum {
  spent: number
  released: number
  endsAt: number
}

/** What all these calls spent of each account, and what they had reserved of it. */
export function sumUp(
  settlements: readonly BudgetSettlement[],
  reservations: ReadonlyMap<string, ReservedUnits>,
): Map<string, Sum> {
  const sums = new Map<string, Sum>()
  const sumOf = (account: string): Sum => {
    let sum = sums.get(account)
    if (sum === undefined)
      sums.set(account, (sum = { spent: 0, released: 0, endsAt: Number.POSITIVE_INFINITY }))
    return sum
  }
  for (const { call, spent } of settlements) {
    for (const { lease, units } of reservations.get(call) ?? []) sumOf(lease.account).released += units
    for (const { account, units, endsAt } of spent) {
      const sum = sumOf(account)
      sum.spent += units
      if (endsAt !== undefined) sum.endsAt = endsAt
    }
  }
  return sums
}
