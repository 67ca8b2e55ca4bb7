import type { CountedEnds, Store } from '../../contract/store.ts'
import { findStartSoon, mostOutOfOrder } from '../../evidence/find-place.ts'
import { readRecord } from '../../kit/result/read-record.ts'

/** A part of a time, and the ends in it. */
export interface CountedPart {
  /** Where it begins, in milliseconds since the epoch. */
  readonly at: number
  readonly ends: readonly CountedEnds[]
}

/** So many ends are counted for one answer, so that calls wait for moments only. What is known from before costs nothing. */
const mostAtOnce = 40_000
/** So many new ends are looked at for such that belong to parts that were counted before. */
const mostNew = 2_000
/** Parts that are remembered of a tenant. */
const mostParts = 5_000

/** What was counted of a tenant, by length and start of the part, with all ends up to a place of its chain. */
interface Known {
  reached: number
  readonly parts: Map<string, readonly CountedEnds[]>
}

const known = new WeakMap<Store, Map<string, Known>>()

/**
 * The whole parts of one length in a time, the newest first in counting: all of them, or as many as can be counted in moments. Ends that are further
 * out of order than `mostOutOfOrder` are not among them.
 */
export function countLately(
  store: Store,
  { tenant, since, until, length }: { tenant: string; since: number; until: number; length: number },
): { parts: CountedPart[]; isWhole: boolean } {
  const { parts: counted } = freshen(store, tenant)
  const parts: CountedPart[] = []
  let left = mostAtOnce
  // What was made in the parts that are still to come stands before it.
  let before = Number.MAX_SAFE_INTEGER
  for (let at = Math.floor((until - 1) / length) * length; at + length > since; at -= length) {
    const key = `${length} ${at}`
    let ends = counted.get(key)
    if (ends === undefined && left <= 0) return { parts, isWhole: false }
    if (ends === undefined) {
      const after = findStartSoon(store, tenant, at)
      ends = store.countEnds({ tenant, since: at, until: at + length, after, before })
      left -= ends.reduce((sum, { calls }) => sum + calls, 0)
      before = after + 2 * mostOutOfOrder + 1
    }
    counted.set(key, ends)
    parts.push({ at, ends })
  }
  return { parts, isWhole: true }
}

/** Forgets the parts that got more ends since. */
function freshen(store: Store, tenant: string): Known {
  const ofStore = known.get(store) ?? new Map<string, Known>()
  known.set(store, ofStore)
  const head = store.head(tenant)?.sequence ?? 0
  const before = ofStore.get(tenant)
  const isNear = before !== undefined && head - before.reached <= mostNew && before.parts.size <= mostParts
  const now: Known = isNear ? before : { reached: head, parts: new Map() }
  if (isNear)
    for (const { text } of store.records({ tenant, kind: 'end', after: before.reached })) {
      const { at } = readRecord(text, 'end')
      for (const key of now.parts.keys()) {
        const [length = 0, start = 0] = key.split(' ').map(Number)
        if (start <= at && at < start + length) now.parts.delete(key)
      }
    }
  now.reached = head
  ofStore.set(tenant, now)
  return now
}
