import type { Store } from '../contract/store.ts'
import { timeOf } from './chain/parse-record.ts'

type Records = Pick<Store, 'records' | 'head'>

/** The place in a chain behind the last record that was made before this time, in milliseconds since the epoch: what comes before it is of then. */
export function findPlace(store: Records, tenant: string, until: number): number {
  const [last] = store.records({ tenant, until, newestFirst: true, limit: 1 })
  return (last?.sequence ?? 0) + 1
}

/**
 * So many records of a chain may stand in another order than they were made in: those of several processes, or of a clock that was set back for
 * moments.
 */
export const mostOutOfOrder = 1_024

/**
 * The same place, found by halving the chain: in moments, also if the store has to read each record to find what is of a time. Where more records than
 * `mostOutOfOrder` are out of order, it is one of the places at which the time passed.
 */
export function findPlaceSoon(store: Records, tenant: string, until: number): number {
  const passed = halve(store, tenant, until)
  const around = { tenant, after: passed, before: passed + 1 + mostOutOfOrder }
  for (const { sequence, text } of store.records({ ...around, newestFirst: true }))
    if ((timeOf(text) ?? until) < until) return sequence + 1
  return passed + 1
}

/** A place in a chain that what was made from this time on comes after, found in moments like that. */
export function findStartSoon(store: Records, tenant: string, since: number): number {
  return Math.max(0, halve(store, tenant, since) - mostOutOfOrder)
}

/** The sequence of a record that was made before this time while the next one was not; 0 if the first one was not. */
function halve(store: Records, tenant: string, time: number): number {
  let [low, high] = [0, (store.head(tenant)?.sequence ?? 0) + 1]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    const made = lastTime(store, tenant, middle + 1)
    // What a store has dropped came before what it still has.
    if (made === undefined || made < time) low = middle
    else high = middle
  }
  return low
}

/** When the last record before this place was made that still says so. */
function lastTime(store: Records, tenant: string, before: number): number | undefined {
  for (const { text } of store.records({ tenant, before, newestFirst: true, limit: mostUnreadable })) {
    const made = timeOf(text)
    if (made !== undefined) return made
  }
  return undefined
}

/** So many records in a row that another program made unreadable do not lead a search astray. */
const mostUnreadable = 64
