import { createKnownSummaries, isOutside, type Wanted } from './known-summaries.ts'
import type { Part } from './due-part.ts'
import { createOutlineTable } from './outline-table.ts'
import { outlineOf } from './outline.ts'
import { createOutlining } from './outlining.ts'
import { createSummaryTable, type Found, type SummaryTableOptions } from './summary-table.ts'
import { recordsPerSummary, type Summary } from './summary.ts'

/** A part of a chain, between these sequences and without them, with a summary of it if there is one. */
export interface Stretch {
  after: number
  before: number
  summary: Summary | undefined
}

/** What is looked for, and where. What a stretch has of it, its reader finds out. */
export interface Look extends Wanted {
  after?: number | undefined
  before?: number | undefined
  newestFirst?: boolean | undefined
}

/**
 * Summaries of the chains, each of a whole part of one. They are made behind the records, never in the transaction of a call, and hold nothing
 * that the records do not say. One that is missing, or was not written by a process with the key of the store, is made again; until then, a
 * process reads the records themselves, and remembers what is not among them.
 */
export interface Summaries {
  /** The stretches of a chain in order, without some of those that have nothing of what is asked. Writes summaries that are missing, and had to be made for that. */
  stretches(look: Look): IterableIterator<Stretch>
  /** Makes one summary that is missing. Returns whether it did. */
  readonly makeOne: () => boolean
  /** Counts the bodies around these records again, some of which were removed. */
  recount(tenant: string, sequences: readonly number[]): void
}

export interface SummariesOptions extends SummaryTableOptions {
  /** Whether something may be written right now. */
  mayWrite: () => boolean
  /** Told when a reader left something without a summary. */
  onDue: () => void
}

/** A reader makes so many summaries of parts of which enough is known to read their records. */
const madeByReader = 8

/** The summaries of this file. */
export function createSummaries(options: SummariesOptions): Summaries {
  const { db, mayWrite, onDue } = options
  const table = createSummaryTable(options)
  const outlines = createOutlineTable(options)
  const known = createKnownSummaries()
  const learn = (tenant: string, number: number, found: Found | undefined): Summary | undefined => {
    if (found !== undefined) known.learn(tenant, number, outlineOf(found))
    return found?.summary
  }
  // A reader in a transaction sees the file as it was, and writes nothing.
  const mayKeep = (): boolean => mayWrite() && !db.isTransaction
  const makeAndKeep = ({ tenant, number }: Part): Found | undefined => {
    const made = table.make(tenant, number)
    if (made !== undefined && mayKeep()) table.keep(tenant, number, made)
    return made
  }
  const outlining = createOutlining({ table, outlines, known, mayKeep })
  return {
    *stretches(look) {
      const { tenant, after = 0, before = Number.MAX_SAFE_INTEGER, newestFirst = false } = look
      const whole = table.whole(tenant)
      const first = Math.floor(after / recordsPerSummary)
      const end = Math.max(first, Math.min(whole, Math.ceil((before - 1) / recordsPerSummary)))
      const rest = { after: Math.max(after, end * recordsPerSummary), before, summary: undefined }
      if (newestFirst && !isEmpty(rest)) yield rest
      let left = madeByReader
      try {
        for (const number of outlining.inside(look, { first, end, whole, newestFirst })) {
          const kept = table.read(tenant, number)
          const isOlder = look.open === true && kept?.summary.open === undefined
          let summary = learn(tenant, number, isOlder ? undefined : kept)
          // What is known of it already says that its records have to be read, which costs less than to make it.
          if (summary === undefined && (known.get(tenant, number) === undefined || (left-- > 0 && mayKeep())))
            summary = learn(tenant, number, makeAndKeep({ tenant, number }))
          if (isOutside(known.get(tenant, number), look)) continue
          yield {
            after: Math.max(after, number * recordsPerSummary),
            before: Math.min(before, (number + 1) * recordsPerSummary + 1),
            summary,
          }
        }
      } finally {
        // Who found enough read many parts on the way to it.
        outlining.complete(tenant, first, end)
        if (left < 0) onDue()
      }
      if (!newestFirst && !isEmpty(rest)) yield rest
    },
    makeOne() {
      if (!mayKeep()) return false
      const due = table.due()
      if (due === undefined) return outlining.makeOne()
      const made = table.make(due.tenant, due.number)
      return made !== undefined && table.keep(due.tenant, due.number, made)
    },
    recount(tenant, sequences) {
      const numbers = new Set(sequences.map((sequence) => Math.floor((sequence - 1) / recordsPerSummary)))
      const bodies = new Map([...numbers].map((number) => [number, table.recount(tenant, number)]))
      outlining.recount(tenant, bodies)
    },
  }
}

function isEmpty({ after, before }: Pick<Stretch, 'after' | 'before'>): boolean {
  return before - after <= 1
}
