import type { DatabaseSync } from 'node:sqlite'
import type { BudgetAnswer, BudgetRequest, BudgetSettlement, BudgetWish } from '../../contract/store.ts'
import { createShareRows } from './share-rows.ts'
import { withoutSync } from './transaction.ts'
import type { Writers } from './writers.ts'

/** Budgets of a file: what was spent from each account, and what each process holds of it. */
export interface Budgets {
  reserve(request: BudgetRequest): BudgetAnswer
  refund(call: string): void
  balance(account: string, at: number): { spent: number; reserved: number }
  /** Writes what calls spent. Call it inside a transaction; what it gives is to be called once that is committed. */
  settle(settlements: readonly BudgetSettlement[]): () => void
  /** Gives back everything that this process holds. */
  close(): void
}

/** What this process holds of an account, and how much of that its calls have reserved. */
interface Share {
  account: string
  limit: number
  endsAt: number
  held: number
  reserved: number
  /** So many units are kept beyond those that are reserved, for calls to come. */
  ahead: number
  heldUntil: number
}

/** The budgets of this file; `own` is the id of this process among its writers. */
export function createBudgets(db: DatabaseSync, writers: Writers, own: string): Budgets {
  const rows = createShareRows(db, writers, own)
  const shares = new Map<string, Share>()
  const reservations = new Map<string, { share: Share; units: number }[]>()

  const shareOf = ({ account, limit, endsAt }: BudgetWish): Share => {
    let share = shares.get(account)
    if (share === undefined)
      shares.set(account, (share = { account, limit, endsAt, held: 0, reserved: 0, ahead: 0, heldUntil: 0 }))
    return share
  }
  const keep = (call: string, taken: { share: Share; units: number }[]): void => {
    const before = reservations.get(call)
    reservations.set(call, before === undefined ? taken : [...before, ...taken])
  }
  /** From what this process holds already; undefined where that is too little. */
  const reserveHeld = ({ call, wishes }: BudgetRequest): BudgetAnswer | undefined => {
    const taken: { share: Share; units: number }[] = []
    for (const { account, limit, units } of wishes) {
      const share = shares.get(account)
      if (share === undefined || share.limit !== limit || share.held - share.reserved < units) {
        for (const one of taken) one.share.reserved -= one.units
        return undefined
      }
      share.reserved += units
      taken.push({ share, units })
    }
    keep(call, taken)
    return { state: 'reserved', given: taken.map(({ units }) => units) }
  }
  /** From the file, for all wishes or none. */
  const reserveNew = ({ call, wishes, at, leaseMs }: BudgetRequest): BudgetAnswer => {
    const taken: { share: Share; units: number; held: number; ahead: number }[] = []
    const undo = (): void => {
      for (const { share, units } of taken) share.reserved -= units
    }
    const heldUntil = at + leaseMs
    try {
      const answer = withoutSync(db, () =>
        writers.write((): BudgetAnswer => {
          for (const [index, wish] of wishes.entries()) {
            const share = shareOf(wish)
            const free = wish.limit - rows.takenByOthers(wish.account, at) - share.reserved
            const left = Math.max(0, free)
            const units = Math.min(wish.units, left)
            if (units < wish.least) return { state: 'refused', wish: index, left }
            share.reserved += units
            const ahead = unitsAhead(left - units, wish.units)
            taken.push({ share, units, ahead, held: share.reserved + ahead })
          }
          for (const { share, held } of taken) rows.put({ ...share, held, heldUntil, spent: 0 })
          return { state: 'reserved', given: taken.map(({ units }) => units) }
        }),
      )
      if (answer.state === 'refused') undo()
      else {
        for (const [index, { share, held, ahead }] of taken.entries())
          Object.assign(share, { held, ahead, heldUntil, limit: wishes[index]?.limit })
        keep(call, taken)
      }
      return answer
    } catch (error) {
      undo()
      throw error
    }
  }
  return {
    reserve: (request) => reserveHeld(request) ?? reserveNew(request),
    refund(call) {
      const taken = reservations.get(call)
      if (taken === undefined) return
      reservations.delete(call)
      for (const { share, units } of taken) share.reserved -= units
      const full = taken
        .map(({ share }) => share)
        .filter((share) => share.held > share.reserved + share.ahead)
      if (full.length === 0) return
      for (const share of full) share.held = share.reserved + share.ahead
      withoutSync(db, () =>
        writers.write(() => {
          for (const share of full) rows.put({ ...share, spent: 0 })
        }),
      )
    },
    balance(account) {
      const share = shares.get(account)
      const { spent, held } = rows.total(account)
      return { spent, reserved: held - (share === undefined ? 0 : share.held - share.reserved) }
    },
    settle(settlements) {
      const changes = new Map<string, { spent: number; released: number }>()
      const changeOf = (account: string): { spent: number; released: number } => {
        let change = changes.get(account)
        if (change === undefined) changes.set(account, (change = { spent: 0, released: 0 }))
        return change
      }
      for (const { call, spent } of settlements) {
        for (const { share, units } of reservations.get(call) ?? []) changeOf(share.account).released += units
        for (const { account, units } of spent) changeOf(account).spent += units
      }
      const after: { share: Share; held: number; reserved: number }[] = []
      for (const [account, { spent, released }] of changes) {
        const share = shareOf({ account, limit: 0, units: 0, least: 0, endsAt: Number.POSITIVE_INFINITY })
        const reserved = share.reserved - released
        const held = Math.max(reserved, Math.min(share.held - spent, reserved + share.ahead))
        rows.put({ ...share, held, spent })
        after.push({ share, held, reserved })
      }
      return () => {
        for (const { share, held, reserved } of after) Object.assign(share, { held, reserved })
        for (const { call } of settlements) reservations.delete(call)
      }
    },
    close: () => rows.leave(),
  }
}

/**
 * How many units to hold for calls to come, where so many are left and a call takes so many: none unless there is room for a
 * thousand such calls, so that a small budget is never refused while an idle process holds some of it.
 */
function unitsAhead(left: number, units: number): number {
  const share = Math.floor(left / 64)
  return share < units * 16 ? 0 : Math.min(share, units * 64)
}
