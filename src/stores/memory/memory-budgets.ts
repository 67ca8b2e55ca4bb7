import type { BudgetAnswer, BudgetRequest, BudgetSettlement } from '../../contract/store.ts'
import { sweepGraceMs } from '../sweep-grace.ts'

/** Budgets of one process. */
export interface MemoryBudgets {
  reserve(request: BudgetRequest): BudgetAnswer
  refund(call: string): void
  settle(settlement: BudgetSettlement): void
  balance(account: string): { spent: number; reserved: number }
}

interface Account {
  spent: number
  reserved: number
  endsAt: number
}

/** No accounts yet. */
export function createMemoryBudgets(): MemoryBudgets {
  const accounts = new Map<string, Account>()
  const reservations = new Map<string, { account: Account; units: number }[]>()
  let sweepAt = 1000

  const accountOf = (name: string, endsAt: number): Account => {
    let account = accounts.get(name)
    if (account === undefined) accounts.set(name, (account = { spent: 0, reserved: 0, endsAt }))
    return account
  }
  const release = (taken: readonly { account: Account; units: number }[]): void => {
    for (const { account, units } of taken) account.reserved -= units
  }
  const sweep = (now: number): void => {
    if (accounts.size < sweepAt) return
    for (const [name, { endsAt, reserved }] of accounts)
      if (reserved === 0 && endsAt + sweepGraceMs < now) accounts.delete(name)
    sweepAt = Math.max(1000, accounts.size * 2)
  }
  const refund = (call: string): void => {
    const taken = reservations.get(call)
    if (taken === undefined) return
    release(taken)
    reservations.delete(call)
  }
  return {
    reserve({ call, at, items }) {
      sweep(at)
      const taken: { account: Account; units: number }[] = []
      for (const [index, item] of items.entries()) {
        const account = accountOf(item.account, item.endsAt)
        const left = Math.max(0, item.limit - account.spent - account.reserved)
        const units = Math.min(item.units, left)
        if (units < item.least) {
          release(taken)
          return { state: 'refused', item: index, left }
        }
        account.reserved += units
        taken.push({ account, units })
      }
      reservations.set(call, [...(reservations.get(call) ?? []), ...taken])
      return { state: 'reserved', given: taken.map(({ units }) => units) }
    },
    refund,
    settle({ call, spent }) {
      refund(call)
      for (const { account, units, endsAt = Number.POSITIVE_INFINITY } of spent)
        accountOf(account, endsAt).spent += units
    },
    balance(name) {
      const { spent, reserved } = accounts.get(name) ?? { spent: 0, reserved: 0 }
      return { spent, reserved }
    },
  }
}
