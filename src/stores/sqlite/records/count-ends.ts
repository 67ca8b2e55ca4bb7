import type { DatabaseSync } from 'node:sqlite'
import type { CountedEnds, EndsQuery } from '../../../contract/store.ts'
import { outcomeOf } from '../../outcome-of.ts'
import { createFinder } from '../summaries/find-in-summary.ts'
import type { Stretch } from '../summaries/summaries.ts'
import { packDuration, startOf, unpackDuration, type Summary } from '../summaries/summary.ts'
import type { Readable } from './read-records.ts'
import { member } from './to-conditions.ts'

/** Takes calls of a tool that ended so, and took so long: as `packDuration` returns it. */
type Count = (ends: { tool: string; outcome: string; took: number; calls: number }) => void

/** Counts the ends of a time. Only those that no summary tells of are read. */
export function countEnds({ db, summaries }: Readable, query: EndsQuery): CountedEnds[] {
  const counts = new Map<string, CountedEnds>()
  const count: Count = ({ tool, outcome, took, calls }) => {
    const key = JSON.stringify([tool, outcome, took])
    const before = counts.get(key)
    if (before !== undefined) before.calls += calls
    else counts.set(key, { tool, outcome: outcomeOf(outcome), durationMs: unpackDuration(took), calls })
  }
  for (const { summary, after, before } of summaries.stretches(query))
    if (summary === undefined) countChain(db, { ...query, after, before }, count)
    else countSummary({ summary, after, before }, query, count)
  return [...counts.values()]
}

function countSummary(
  { summary, after, before }: Stretch & { summary: Summary },
  { since, until }: EndsQuery,
  count: Count,
): void {
  const { shapes, shapeOf, took } = summary
  const start = startOf(after)
  /** By shape and duration. */
  const calls = new Map<number, number>()
  const ends = createFinder({ kind: 'end', since, until })
  for (const place of ends.find(summary, after - start, before - 1 - start)) {
    const key = (shapeOf[place] ?? 0) * 2 ** 16 + (took[place] ?? 0)
    calls.set(key, (calls.get(key) ?? 0) + 1)
  }
  for (const [key, number] of calls) {
    const shape = shapes[Math.floor(key / 2 ** 16)]
    count({ tool: shape?.tool ?? '', outcome: shape?.outcome ?? '', took: key % 2 ** 16, calls: number })
  }
}

function countChain(
  db: DatabaseSync,
  { tenant, since, until, after, before }: EndsQuery & Pick<Stretch, 'after' | 'before'>,
  count: Count,
): void {
  const rows = db
    .prepare(
      `SELECT ${member('tool')} AS tool, ${member('outcome')} AS outcome, ${member('durationMs')} AS took, count(*) AS calls ` +
        'FROM records INDEXED BY records_sequence WHERE tenant = :tenant AND sequence > :after AND sequence < :before ' +
        `AND +kind = 'end' AND ${member('at')} >= :since AND ${member('at')} < :until GROUP BY 1, 2, 3`,
    )
    .all({ tenant, since, until, after, before })
  for (const { tool, outcome, took, calls } of rows)
    count({
      tool: String(tool ?? ''),
      outcome: String(outcome ?? ''),
      took: packDuration(Number(took)),
      calls: Number(calls),
    })
}
