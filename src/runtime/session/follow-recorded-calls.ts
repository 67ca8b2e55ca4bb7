import type { ToolDefinition } from '../../contract/tool/tool.ts'
import type { BeginRecord, EndRecord, StoredRecord } from '../../contract/evidence.ts'
import type { Registered } from '../../contract/registry.ts'
import type { Store } from '../../contract/store.ts'
import { readRecord } from '../../kit/result/read-record.ts'
import { resultName } from '../limits/repeats.ts'
import type { SessionCounts } from '../state/family.ts'

/** Whose calls are followed. */
export interface FollowedSession {
  readonly store: Store
  readonly tenant: string
  readonly session: string
  /** When it was opened for the first time, in milliseconds since the epoch. */
  readonly since: number
  /** Whether all of its calls are counted, and those of the sessions that it opened: their number has a limit. Else the last ones are enough. */
  readonly countsAll: boolean
}

/** Finds a tool as the session has it now. */
export type FindTool = (name: string) => Registered | undefined

/** So many records tell which calls a session repeats. */
const mostRecords = 500

/**
 * Counts what the evidence has of a session: at the first time, what was before; then, each time, what other processes did meanwhile. Calls of this
 * process are counted as they are made.
 */
export function followRecordedCalls(
  followed: FollowedSession,
  { counts, isNew }: { counts: SessionCounts; isNew: boolean },
): (find: FindTool) => void {
  const { store, tenant, session, countsAll } = followed
  const open = new Map<string, BeginRecord>()
  let last = isNew ? (store.head(tenant)?.sequence ?? 0) : 0
  let isFirst = !isNew
  const about = { tenant, ...(!countsAll && { session }) }
  return (find) => {
    const records =
      isFirst && !countsAll
        ? [...store.records({ ...about, newestFirst: true, limit: mostRecords })].reverse()
        : store.records({ ...about, after: last })
    for (const record of records) {
      last = record.sequence
      take(record, { followed, counts, open, find, isPast: isFirst })
    }
    isFirst = false
  }
}

interface Taking {
  readonly followed: FollowedSession
  readonly counts: SessionCounts
  readonly open: Map<string, BeginRecord>
  readonly find: FindTool
  readonly isPast: boolean
}

function take({ kind, call, text, body }: StoredRecord, taking: Taking): void {
  const { followed, counts, open } = taking
  const { session, store, since, countsAll } = followed
  const isCounted = countsAll || !taking.isPast
  if (kind === 'begin') {
    const begin = readRecord(text, 'begin')
    const isOf =
      begin.session === session || begin.parents?.some((parent) => parent.session === session) === true
    if (!isOf || begin.at < since || (!taking.isPast && begin.writer === store.writer)) return
    open.set(call, begin)
    if (isCounted) counts.family.made++
  } else if (kind === 'end') {
    const begin = open.get(call)
    if (begin === undefined) return
    open.delete(call)
    const end = readRecord(text, 'end')
    if (mayHaveRun(end, body)) settle(begin, { end, body }, taking)
    else if (isCounted) counts.family.made--
  }
}

/** What a call that ran says of repeats, as `settleRepeat` says it of one that runs here. */
function settle(
  begin: BeginRecord,
  { end, body }: { end: EndRecord; body: string | null },
  { followed, counts, find }: Taking,
): void {
  const definition = definitionOf(begin, find)
  const mayChange = definition === undefined || !['none', 'read'].includes(definition.sideEffect)
  // What a session below this one did is not known as well.
  if (begin.session !== followed.session || definition === undefined || definition.needs.includes('jobs')) {
    if (mayChange) counts.family.changes++
    return
  }
  const input = begin.said?.input ?? begin.input
  const repeats = counts.repeats.get(definition) ?? new Map()
  counts.repeats.set(definition, repeats)
  const before = repeats.get(input)
  const name = resultName(body === null ? {} : JSON.parse(body), end.result)
  const isNew = before?.result !== name
  const isCurrent = before?.changes === counts.family.changes
  if (isNew && mayChange) counts.family.changes++
  const count = isNew || !isCurrent ? 1 : before.count + 1
  repeats.set(input, { count, result: name, changes: counts.family.changes })
}

/** Undefined if it is another one by now. */
function definitionOf({ tool, definition }: BeginRecord, find: FindTool): ToolDefinition | undefined {
  const found = find(tool)
  return found !== undefined && `${found.definition.version} ${found.digest}` === definition
    ? found.definition
    : undefined
}

/** A call that was refused did not run, nor did one that got the result of an earlier one. */
function mayHaveRun({ outcome, code, reason }: EndRecord, body: string | null): boolean {
  if (body?.includes('"replayed":true') === true && isReplayed(body)) return false
  if (outcome === 'denied' || outcome === 'waiting' || code === 'IDEMPOTENCY.CONFLICT') return false
  return reason !== 'invalid_input' && reason !== 'run_cancelled' && reason !== 'not_run_after_failed_write'
}

function isReplayed(body: string): boolean {
  const { metadata } = JSON.parse(body) as { metadata?: { replayed?: boolean } }
  return metadata?.replayed === true
}
