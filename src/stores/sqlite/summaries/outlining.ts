import { isOutside, type KnownSummaries, type Wanted } from './known-summaries.ts'
import type { OutlineTable } from './outline-table.ts'
import { outlineOf, partsPerOutline, type Outline, type PartOutline } from './outline.ts'
import type { SummaryTable } from './summary-table.ts'

/** Learns from outlines what is known of parts of chains, and makes those that are missing. */
export interface Outlining {
  /** The numbers of parts that may have something of what is asked, in order. Learns what outlines say of them on the way. */
  inside(look: Wanted, parts: Parts): IterableIterator<number>
  /** Writes the outlines that were found missing, of parts between these numbers of which all is known now. */
  complete(tenant: string, from: number, to: number): void
  /** Makes one outline that is missing. Returns whether it did. */
  makeOne(): boolean
  /** Keeps which of these parts have no bodies any more. */
  recount(tenant: string, bodies: ReadonlyMap<number, number | undefined>): void
}

/** Parts of a chain with so many whole ones, from one number on and before another. */
export interface Parts {
  first: number
  end: number
  whole: number
  newestFirst: boolean
}

interface OutliningOptions {
  table: SummaryTable
  outlines: OutlineTable
  known: KnownSummaries
  mayKeep: () => boolean
}

/** For the parts with these summaries. */
export function createOutlining({ table, outlines, known, mayKeep }: OutliningOptions): Outlining {
  /** By tenant, parts that are whole and have no outline. */
  const missing = new Map<string, Set<number>>()
  const groupOf = (number: number): number => Math.floor(number / partsPerOutline)
  /** Undefined if one of the parts is not known, and not whole either. */
  const gather = (tenant: string, group: number): PartOutline[] | undefined => {
    const parts: PartOutline[] = []
    for (let number = group * partsPerOutline; number < (group + 1) * partsPerOutline; number++) {
      const found = known.get(tenant, number) ?? readPart(tenant, number)
      if (found === undefined) return undefined
      parts.push(found)
    }
    return parts
  }
  const readPart = (tenant: string, number: number): PartOutline | undefined => {
    const found = table.read(tenant, number) ?? table.make(tenant, number)
    if (found === undefined) return undefined
    const { open } = found.summary
    // Most calls that had no end then have one by now.
    const hasOpen = open === undefined || table.hasOpen(tenant, number, open)
    return { ...outlineOf(found), hasOpen }
  }
  const outlineWith = (tenant: string, group: number): Outline | undefined => {
    const outline = known.getOutline(tenant, group) ?? outlines.read(tenant, group)
    if (outline !== undefined) known.learnOutline(tenant, group, outline)
    else missing.set(tenant, (missing.get(tenant) ?? new Set()).add(group))
    return outline
  }
  return {
    *inside(look, { first, end, whole, newestFirst }) {
      const groups = Math.ceil(end / partsPerOutline) - groupOf(first)
      for (let step = 0; step < groups && first < end; step++) {
        const group = newestFirst ? groupOf(end - 1) - step : groupOf(first) + step
        const [from, to] = [group * partsPerOutline, (group + 1) * partsPerOutline]
        if (isOutside(to <= whole ? outlineWith(look.tenant, group) : undefined, look)) continue
        const numbers = []
        for (let number = Math.max(first, from); number < Math.min(end, to); number++)
          if (!isOutside(known.get(look.tenant, number), look)) numbers.push(number)
        yield* newestFirst ? numbers.reverse() : numbers
      }
    },
    complete(tenant, from, to) {
      for (const group of missing.get(tenant) ?? []) {
        const first = group * partsPerOutline
        if (first < from || first + partsPerOutline > to || !mayKeep()) continue
        const parts = Array.from({ length: partsPerOutline }, (_, place) => known.get(tenant, first + place))
        if (!parts.every((part) => part !== undefined)) continue
        if (outlines.keep(tenant, group, parts)) missing.get(tenant)?.delete(group)
      }
    },
    makeOne() {
      const due = mayKeep() ? outlines.due() : undefined
      const parts = due && gather(due.tenant, due.number)
      return due !== undefined && parts !== undefined && outlines.keep(due.tenant, due.number, parts)
    },
    recount(tenant, bodies) {
      const groups = new Set([...bodies.keys()].map(groupOf))
      for (const group of groups) {
        const now = outlines
          .read(tenant, group)
          ?.parts()
          .map((part, place): PartOutline => {
            const count = bodies.get(group * partsPerOutline + place)
            return count === undefined ? part : { ...part, hasBodies: count > 0 }
          })
        if (now !== undefined) outlines.keep(tenant, group, now)
      }
    },
  }
}
