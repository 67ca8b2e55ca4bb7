import { createKnownSummaries, type Wanted } from './known-summaries.ts'
import { createSummaryTable, type Row, type SummaryTableOptions } from './summary-table.ts'
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
 * that the records do not say. One that is missing, or was not written by a process with the key of the store, is made again; until then, the
 * records themselves are read.
 */
export interface Summaries {
  /** The stretches of a chain in order, without some of those that have nothing of what is asked. Gives a few a summary before. */
  stretches(look: Look): IterableIterator<Stretch>
  /** Makes one summary that is missing. Returns whether it did. */
  makeOne(): boolean
  /** Counts the bodies around these records again, some of which were removed. */
  recount(tenant: string, sequences: readonly number[]): void
}

export interface SummariesOptions extends SummaryTableOptions {
  /** Whether something may be written right now. */
  mayWrite: () => boolean
  /** Told when a reader left something without a summary. */
  onDue: () => void
}

/** A reader makes so many summaries at most before it reads. */
const madeByReader = 4

/** The summaries of this file. */
export function createSummaries(options: SummariesOptions): Summaries {
  const { db, mayWrite, onDue } = options
  const table = createSummaryTable(options)
  const known = createKnownSummaries()
  const make = (tenant: string, number: number): boolean => {
    const made = mayWrite() && !db.isTransaction ? table.build(tenant, number) : undefined
    return made !== undefined && table.keep(tenant, number, made)
  }
  const catchUp = (tenant: string): void => {
    const { next, whole } = table.reach(tenant)
    const end = Math.min(whole, next + madeByReader)
    for (let number = next; number < end; number++) if (!make(tenant, number)) break
    if (end < whole) onDue()
  }
  /** The summary of a row: null if it has nothing of what is asked, undefined if it does not count. */
  const open = (row: Row, look: Look): Summary | null | undefined => {
    if (known.isOutside(row, look)) return null
    let read = table.read(look.tenant, row.number)
    if (read === undefined && make(look.tenant, row.number)) read = table.read(look.tenant, row.number)
    if (read === undefined) return undefined
    known.learn(look.tenant, read, read.summary)
    return known.isOutside(read, look) ? null : read.summary
  }
  return {
    *stretches(look) {
      catchUp(look.tenant)
      const { after = 0, before = Number.MAX_SAFE_INTEGER, newestFirst = false } = look
      let rest = { after, before }
      for (const row of table.rows(look.tenant, { after, before, newestFirst })) {
        const place = {
          after: Math.max(after, row.number * recordsPerSummary),
          before: Math.min(before, (row.number + 1) * recordsPerSummary + 1),
        }
        const gap = newestFirst ? { ...rest, after: place.before - 1 } : { ...rest, before: place.after + 1 }
        if (!isEmpty(gap)) yield { ...gap, summary: undefined }
        const summary = open(row, look)
        if (summary !== null) yield { ...place, summary }
        rest = newestFirst ? { ...rest, before: place.after + 1 } : { ...rest, after: place.before - 1 }
      }
      if (!isEmpty(rest)) yield { ...rest, summary: undefined }
    },
    makeOne() {
      const due = table.due()
      return due !== undefined && make(due.tenant, due.number)
    },
    recount(tenant, sequences) {
      const numbers = new Set(sequences.map((sequence) => Math.floor((sequence - 1) / recordsPerSummary)))
      for (const number of numbers) table.recount(tenant, number)
    },
  }
}

function isEmpty({ after, before }: Pick<Stretch, 'after' | 'before'>): boolean {
  return before - after <= 1
}
