import type { DatabaseSync } from 'node:sqlite'
import type { CountedEnds, EndsQuery } from '../../../contract/store.ts'
import { outcomeOf } from '../../outcome-of.ts'

/** Counts the ends of a time. All that is needed stands in the index. */
export function countEnds(db: DatabaseSync, { tenant, since, until }: EndsQuery): CountedEnds[] {
  const statement = db.prepare(
    'SELECT tool, outcome, CASE WHEN durationMs < 100 THEN durationMs ' +
      "ELSE cast(substr(durationMs || '', 1, 2) || substr('00000000000000', 1, length(durationMs || '') - 2) AS int) END AS took, " +
      "count(*) FROM records INDEXED BY records_at WHERE tenant = ? AND at >= ? AND at < ? AND kind = 'end' GROUP BY 1, 2, 3",
  )
  statement.setReturnArrays(true)
  return statement.all(tenant, since, until).map((row) => {
    const [tool, outcome, durationMs, calls] = Object.values(row)
    return {
      tool: String(tool),
      outcome: outcomeOf(String(outcome)),
      durationMs: Number(durationMs),
      calls: Number(calls),
    }
  })
}
