import type { NoteRecord } from '../../../contract/evidence.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { Store } from '../../../contract/store.ts'
import { readRecord } from '../../../kit/result/read-record.ts'
import type { KeptRun } from '../../../agents/loop/run-book.ts'

/** What one process did of a run, as the evidence has it. */
export interface Leg {
  /** How many nodes there were before. */
  readonly node: number
  /** `maxTurns` counts from this turn on. */
  readonly countsFrom: number
  readonly maxTurns: number | undefined
  readonly contextTokens: number | undefined
  /** Absent of one whose process was ended. */
  readonly end?: LegEnd
}

/** How it ended. */
export interface LegEnd {
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly reason: string
  /** How many nodes there were. */
  readonly node: number
  readonly turns: number
  /** Keyed digest of the conversation. */
  readonly transcript: string
}

/** The legs of a run, the oldest first. */
export function readLegs(
  { tenant, session, id }: Pick<KeptRun, 'tenant' | 'session' | 'id'>,
  store: Pick<Store, 'records'>,
): Leg[] {
  const legs: Leg[] = []
  for (const { text } of store.records({ tenant, session, kind: 'note' })) {
    const { event, data = {}, at } = readRecord(text, 'note')
    if (data['run'] !== id) continue
    if (event === 'run_started') legs.push(toLeg(data))
    const last = legs.at(-1)
    if (event === 'run_ended' && last !== undefined) legs[legs.length - 1] = { ...last, end: toEnd(data, at) }
  }
  return legs
}

function toLeg(data: JsonObject): Leg {
  return {
    node: toNumber(data['node']) ?? 0,
    countsFrom: toNumber(data['counts_from']) ?? 0,
    maxTurns: toNumber(data['max_turns']),
    contextTokens: toNumber(data['context_tokens']),
  }
}

function toEnd(data: JsonObject, at: NoteRecord['at']): LegEnd {
  return {
    at,
    reason: toText(data['end_reason']),
    node: toNumber(data['node']) ?? 0,
    turns: toNumber(data['turns']) ?? 0,
    transcript: toText(data['transcript']),
  }
}

function toNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
