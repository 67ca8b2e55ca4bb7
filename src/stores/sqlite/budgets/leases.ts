import type { ReservationItem } from '../../../contract/store.ts'
import { createRounds } from '../../../kit/time/create-rounds.ts'
import type { Writers } from '../base/writers.ts'
import type { LeaseRows } from './lease-rows.ts'

/** What this process holds of an account, and how much of that its calls have reserved. */
export interface Lease {
  account: string
  limit: number
  endsAt: number
  held: number
  reserved: number
  /** So many units are held beyond those that are reserved, for calls to come. */
  prefetch: number
  heldUntil: number
  leaseMs: number
  /** Whether a call reserved from it since the last renewal. */
  used: boolean
}

/** The leases of this process, renewed while it lives. */
export interface Leases {
  find(account: string): Lease | undefined
  getOrOpen(about: Pick<ReservationItem, 'account' | 'limit' | 'endsAt'>): Lease
  /** Holds less or longer, in the file first. */
  hold(changes: readonly LeaseChange[]): void
  stop(): void
}

interface LeaseChange {
  lease: Lease
  held: number
  heldUntil: number
}

/** Every so often, leases are renewed, and what no call here uses is released. */
const renewalMs = 1000

/** No leases yet. `now` returns milliseconds since the epoch. */
export function createLeases(rows: LeaseRows, writers: Writers, now: () => number): Leases {
  const leases = new Map<string, Lease>()

  const hold = (changes: readonly LeaseChange[]): void => {
    if (changes.length === 0) return
    writers.write(() => {
      for (const { lease, held, heldUntil } of changes) rows.put({ ...lease, held, heldUntil, spent: 0 })
    })
    for (const { lease, held, heldUntil } of changes) Object.assign(lease, { held, heldUntil })
  }
  const renew = (): boolean => {
    const at = now()
    const changes: LeaseChange[] = []
    const idle: string[] = []
    for (const lease of leases.values()) {
      const isIdle = !lease.used && lease.reserved === 0
      if (isIdle) idle.push(lease.account)
      lease.used = false
      const held = isIdle ? 0 : Math.min(lease.held, wanted(lease))
      const isOld = held > 0 && lease.heldUntil - at < lease.leaseMs / 2
      if (isOld || held !== lease.held)
        changes.push({ lease, held, heldUntil: isOld ? at + lease.leaseMs : lease.heldUntil })
    }
    hold(changes)
    for (const account of idle) leases.delete(account)
    return leases.size > 0
  }
  const renewal = createRounds(renewalMs, renew)
  return {
    find: (account) => leases.get(account),
    getOrOpen({ account, limit, endsAt }) {
      let lease = leases.get(account)
      if (lease !== undefined) return lease
      lease = {
        account,
        limit,
        endsAt,
        held: 0,
        reserved: 0,
        prefetch: 0,
        heldUntil: 0,
        leaseMs: 0,
        used: true,
      }
      leases.set(account, lease)
      renewal.start()
      return lease
    },
    hold,
    stop: () => renewal.stop(),
  }
}

/** How many units a lease has a use for. */
export function wanted({ reserved, prefetch }: Pick<Lease, 'reserved' | 'prefetch'>): number {
  return reserved + prefetch
}
