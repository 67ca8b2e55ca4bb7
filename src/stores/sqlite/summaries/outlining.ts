import type { KnownSummaries } from './known-summaries.ts'
import type { OutlineTable } from './outline-table.ts'
import { outlineOf, partsPerOutline, type PartOutline } from './outline.ts'
import type { SummaryTable } from './summary-table.ts'

/** Learns from outlines what is known of parts of chains, and makes those that are missing. */
export interface Outlining {
  /** Learns what is known of this part of a chain with so many whole ones, and of those around it, if nothing is known of it yet. */
  learn(part: { tenant: string; number: number; whole: number }): void
  /** Writes the outlines that were found missing, of parts between these numbers of which all is known now. */
  complete(tenant: string, from: number, to: number): void
  /** Makes one outline that is missing. Returns whether it did. */
  makeOne(): boolean
  /** Keeps which of these parts have no bodies any more. */
  recount(tenant: string, bodies: ReadonlyMap<number, number | undefined>): void
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
    return found && outlineOf(found)
  }
  return {
    learn({ tenant, number, whole }) {
      const group = groupOf(number)
      const first = group * partsPerOutline
      if (known.get(tenant, number) !== undefined || first + partsPerOutline > whole) return
      const parts = outlines.read(tenant, group)
      if (parts === undefined) missing.set(tenant, (missing.get(tenant) ?? new Set()).add(group))
      for (const [place, part] of (parts ?? []).entries()) known.learn(tenant, first + place, part)
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
        const parts = outlines.read(tenant, group)
        if (parts === undefined) continue
        const now = parts.map((part, place): PartOutline => {
          const count = bodies.get(group * partsPerOutline + place)
          return count === undefined ? part : { ...part, hasBodies: count > 0 }
        })
        outlines.keep(tenant, group, now)
      }
    },
  }
}
