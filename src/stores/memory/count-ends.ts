import type { StoredRecord } from '../../contract/evidence.ts'
import type { CountedEnds } from '../../contract/store.ts'
import { readRecord } from '../../kit/result/read-record.ts'

/** Counts these ends, up to a time. */
export function countEnds(records: Iterable<StoredRecord>, until: number): CountedEnds[] {
  const counted = new Map<string, CountedEnds>()
  for (const { text } of records) {
    const { at, tool, outcome, durationMs } = readRecord(text, 'end')
    if (at >= until) continue
    const rounded = toTwoDigits(durationMs)
    const key = JSON.stringify([tool, outcome, rounded])
    const before = counted.get(key)
    counted.set(key, { tool, outcome, durationMs: rounded, calls: (before?.calls ?? 0) + 1 })
  }
  return [...counted.values()]
}

function toTwoDigits(ms: number): number {
  const unit = 10 ** Math.max(0, String(Math.floor(ms)).length - 2)
  return Math.floor(ms / unit) * unit
}
