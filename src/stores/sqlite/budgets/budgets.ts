import type { DatabaseSync } from 'node:sqlite'
import type { BudgetAnswer, BudgetRequest, BudgetSettlement, BudgetWish } from '../../../contract/store.ts'
import { createRounds } from '../../../kit/time/create-rounds.ts'
import type { SealedWrites } from '../seals/sealed-writes.ts'
import { createShareRows } from './share-rows.ts'
import type { Writers } from '../base/writers.ts'

/** Budgets of a file: what was spent from each account, and what each process holds of it. */
export interface Budgets {
  reserve(request: BudgetRequest): BudgetAnswer
  refund(call: string): void
  balance(account: string, at: number): { spent: number; reserved: number }
  /** Writes what calls spent. Call it inside a transaction, and what it returns once that is committed. */
  settle(settlements: readonly BudgetSettlement[]): () => void
  /** Gives back everything that this process holds. */
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
  leaseMs: number
  /** Whether a call reserved from it since the last look. */
  used: boolean
}

type Taken = { share: Share; units: number }[]

/** Every so often, what is held is renewed, and what no call here uses is given back. */
const roundMs = 1000
/** A balance may count what a process held that died a moment ago: it is asked for more often than processes die. */
const balanceAgeMs = 50
/** Every so many reservations in the file, rows of windows that ended are removed. */
const reservationsPerSweep = 64

/** The budgets of this file. */
export function createBudgets({ db, writers, writes, own, now }: BudgetsOptions): Budgets {
  const rows = createShareRows({ db, writers, writes, own })
  const shares = new Map<string, Share>()
  const reservations = new Map<string, Taken>()
  let sinceSweep = 0

  const shareOf = ({ account, limit, endsAt }: Pick<BudgetWish, 'account' | 'limit' | 'endsAt'>): Share => {
    let share = shares.get(account)
    if (share !== undefined) return share
    share = { account, limit, endsAt, held: 0, reserved: 0, ahead: 0, heldUntil: 0, leaseMs: 0, used: true }
    shares.set(account, share)
    rounds.start()
    return share
  }
  const keep = (call: string, taken: Taken): BudgetAnswer => {
    const before = reservations.get(call)
    reservations.set(call, before === undefined ? taken : [...before, ...taken])
    return { state: 'reserved', given: taken.map(({ units }) => units) }
  }

  /** From what this process holds already; undefined if that is too little. */
  const reserveHeld = ({ call, wishes }: BudgetRequest): BudgetAnswer | undefined => {
    const taken: Taken = []
    for (const { account, limit, units } of wishes) {
      const share = shares.get(account)
      if (share === undefined || share.limit !== limit || share.held - share.reserved < units) {
        release(taken)
        return undefined
      }
      share.reserved += units
      share.used = true
      taken.push({ share, units })
    }
    return keep(call, taken)
  }
  /** What is left of an account beside what is reserved here. Inside a transaction. */
  const leftOf = ({ account, limit, units }: BudgetWish, share: Share, at: number): number => {
    const { spent, held, holders } = rows.read(account)
    let left = limit - spent - held - share.reserved
    // Only when it runs short: asking which processes live costs more than all the rest.
    if (left < units)
      for (const holder of holders.filter((one) => rows.isVoid(one, at, 0))) {
        left += rows.takeOver(account, holder.writer)
      }
    return Math.max(0, left)
  }
  /** From the file, for all wishes or none. Inside a transaction; returns what is to be held then. */
  const takeNew = (
    { wishes, at, leaseMs }: BudgetRequest,
    taken: Taken,
  ): Share[] | Exclude<BudgetAnswer, { state: 'reserved' }> => {
    const after: Share[] = []
    for (const [index, wish] of wishes.entries()) {
      const share = shareOf(wish)
      const left = leftOf(wish, share, at)
      const units = Math.min(wish.units, left)
      if (units < wish.least) return { state: 'refused', wish: index, left }
      share.reserved += units
      taken.push({ share, units })
      const ahead = unitsAhead(left - units, wish.units)
      const held = share.reserved + ahead
      after.push({ ...share, limit: wish.limit, held, ahead, heldUntil: at + leaseMs, leaseMs, used: true })
    }
    for (const share of after) rows.put({ ...share, spent: 0 })
    return after
  }
  const reserveNew = (request: BudgetRequest): BudgetAnswer => {
    const taken: Taken = []
    let after: ReturnType<typeof takeNew>
    try {
      after = writers.write(() => {
        if (++sinceSweep % reservationsPerSweep === 0) rows.sweep(request.at)
        return takeNew(request, taken)
      })
    } catch (error) {
      release(taken)
      throw error
    }
    if (!Array.isArray(after)) {
      release(taken)
      return after
    }
    for (const share of after) Object.assign(shareOf(share), share)
    return keep(request.call, taken)
  }

  /** Holds less or longer, in the file first. */
  const hold = (changes: readonly { share: Share; held: number; heldUntil: number }[]): void => {
    if (changes.length === 0) return
    writers.write(() => {
      for (const { share, held, heldUntil } of changes) rows.put({ ...share, held, heldUntil, spent: 0 })
    })
    for (const { share, held, heldUntil } of changes) Object.assign(share, { held, heldUntil })
  }
  const round = (): boolean => {
    const at = now()
    const changes = []
    const idle = []
    for (const share of shares.values()) {
      const isIdle = !share.used && share.reserved === 0
      if (isIdle) idle.push(share.account)
      share.used = false
      const held = isIdle ? 0 : Math.min(share.held, share.reserved + share.ahead)
      const isOld = held > 0 && share.heldUntil - at < share.leaseMs / 2
      if (isOld || held !== share.held)
        changes.push({ share, held, heldUntil: isOld ? at + share.leaseMs : share.heldUntil })
    }
    hold(changes)
    for (const account of idle) shares.delete(account)
    return shares.size > 0
  }
  const rounds = createRounds(roundMs, round)

  return {
    reserve: (request) => reserveHeld(request) ?? reserveNew(request),
    refund(call) {
      const taken = reservations.get(call)
      if (taken === undefined) return
      reservations.delete(call)
      release(taken)
      const changes = [...new Set(taken.map(({ share }) => share))]
        .filter(({ held, reserved, ahead }) => held > reserved + ahead)
        .map((share) => ({ share, held: share.reserved + share.ahead, heldUntil: share.heldUntil }))
      try {
        hold(changes)
      } catch {
        // The call has nothing any more; what the file did not take now, it takes in the next round.
      }
    },
    balance(account, at) {
      const { spent, holders } = rows.read(account)
      const reserved = holders.reduce(
        (sum, one) =>
          sum + (rows.isVoid(one, at, balanceAgeMs) ? rows.leftOpen(account, one.writer) : one.held),
        0,
      )
      return { spent, reserved: reserved + (shares.get(account)?.reserved ?? 0) }
    },
    settle(settlements) {
      const after: { share: Share; held: number; reserved: number }[] = []
      for (const [account, { spent, released, endsAt }] of sumUp(settlements, reservations)) {
        const share = shareOf({ account, limit: 0, endsAt })
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
    close() {
      rounds.stop()
      if (rows.isIn()) writers.write(() => rows.leave((account) => shares.get(account)?.reserved ?? 0))
    },
  }
}

function release(taken: Taken): void {
  for (const { share, units } of taken) share.reserved -= units
}

interface Sum {
  spent: number
  released: number
  endsAt: number
}

/** What all these calls spent of each account, and what they had reserved of it. */
function sumUp(
  settlements: readonly BudgetSettlement[],
  reservations: ReadonlyMap<string, Taken>,
): Map<string, Sum> {
  const sums = new Map<string, Sum>()
  const sumOf = (account: string): Sum => {
    let sum = sums.get(account)
    if (sum === undefined)
      sums.set(account, (sum = { spent: 0, released: 0, endsAt: Number.POSITIVE_INFINITY }))
    return sum
  }
  for (const { call, spent } of settlements) {
    for (const { share, units } of reservations.get(call) ?? []) sumOf(share.account).released += units
    for (const { account, units, endsAt } of spent) {
      const sum = sumOf(account)
      sum.spent += units
      if (endsAt !== undefined) sum.endsAt = endsAt
    }
  }
  return sums
}

/**
 * How many units to hold for calls to come, where so many are left and a call takes so many: none unless there is room for a
 * thousand such calls, so that a small budget is never refused while an idle process holds some of it.
 */
function unitsAhead(left: number, units: number): number {
  const share = Math.floor(left / 64)
  return share < units * 16 ? 0 : Math.min(share, units * 64)
}
