import type { StoredRecord } from '../../contract/evidence.ts'
import type { RecordQuery } from '../../contract/store.ts'
import { matchPattern } from '../../kit/match/match-pattern.ts'
import { readRecord } from '../../kit/result/read-record.ts'

/** Whether a record has what a query asks of its text. Nothing is read for a query that asks nothing of it. */
export function textFilter(query: RecordQuery): (record: StoredRecord) => boolean {
  const { tool, actor, outcome, event, since, until } = query
  if ([tool, actor, outcome, event, since, until].every((each) => each === undefined)) return () => true
  return ({ text }) => {
    const record: object & { at: number; tool?: string; actor?: string; outcome?: string; event?: string } =
      readRecord(text)
    return (
      (tool === undefined || (record.tool !== undefined && matchPattern(tool, record.tool))) &&
      (actor === undefined || record.actor === actor) &&
      (outcome === undefined || record.outcome === outcome) &&
      (event === undefined || record.event === event) &&
      (since === undefined || record.at >= since) &&
      (until === undefined || record.at < until)
    )
  }
}
