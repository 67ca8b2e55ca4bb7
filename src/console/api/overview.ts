import type { PendingApproval } from '../../contract/pending-approval.ts'
import type { Runtime } from '../../contract/runtime.ts'
import { findCalls, type ListedCall } from '../../evidence/find-calls.ts'
import { endpoint, type Endpoint } from '../base/endpoint.ts'
import { readCount } from '../base/read-query.ts'
import { sees, type Visitor } from '../base/roles.ts'
import { overview, type Overview } from './overview-row.ts'

/** So many calls are counted at most, the newest: counting more would hold up calls that run. */
const most = 2_000
const longest = 31 * 24 * 60
const parts = 30

const show = endpoint({
  method: 'GET',
  path: '/api/overview',
  summary: `Calls, denials, errors and times of the last minutes, counted from the last ${most} calls, and what is wrong now.`,
  role: 'viewer',
  reach: 'each',
  query: { minutes: `How far back, from 1 to ${longest}. Default: 60.` },
  answer: overview,
  run({ visitor, query, tenants, parts: { runtime } }) {
    const minutes = readCount(query, { name: 'minutes', usual: 60, most: longest })
    if (minutes instanceof Response) return minutes
    const until = Date.now()
    const since = until - minutes * 60_000
    const last = findCalls(runtime.store, { tenants, limit: most })
    const calls = last.filter(({ begun }) => begun.at >= since)
    return {
      since,
      until,
      isWhole: last.length < most || calls.length < last.length,
      counts: count(calls),
      times: toTimes(calls, since, until),
      tools: toTools(calls),
      approvals: toWaits(runtime, visitor, since),
      health: [runtime.store.readOnly, runtime.store.trouble].filter((each) => each !== undefined),
    }
  },
})

function count(calls: readonly ListedCall[]): Overview['counts'] {
  const of = (...outcomes: readonly string[]): number =>
    calls.filter(({ outcome }) => outcomes.includes(outcome)).length
  const [ok, denied, failed, aborted] = [of('ok'), of('denied'), of('failed', 'unknown'), of('aborted')]
  const open = calls.length - ok - denied - failed - aborted
  return { calls: calls.length, ok, denied, failed, aborted, open }
}

function toTimes(calls: readonly ListedCall[], since: number, until: number): Overview['times'] {
  const length = (until - since) / parts
  const groups = Map.groupBy(calls, ({ begun }) =>
    Math.min(parts - 1, Math.floor((begun.at - since) / length)),
  )
  return Array.from({ length: parts }, (_, index) => ({
    at: Math.round(since + index * length),
    ...count(groups.get(index) ?? []),
  }))
}

function toTools(calls: readonly ListedCall[]): Overview['tools'] {
  const groups = Map.groupBy(calls, ({ tool }) => tool)
  const rows = [...groups].map(([tool, own]) => {
    const p95Ms = atShare(
      own.flatMap((call) => (call.outcome === 'running' ? [] : [call.durationMs])),
      0.95,
    )
    return { tool, ...count(own), ...(p95Ms !== undefined && { p95Ms }) }
  })
  return rows.toSorted((one, other) => other.calls - one.calls)
}

/** How long persons were waited for. What was used or ran out is known for a day. */
function toWaits(
  { approvals }: Pick<Runtime, 'approvals'>,
  visitor: Visitor,
  since: number,
): Overview['approvals'] {
  const all = approvals.list({ state: 'all' }).filter(({ tenant }) => sees(visitor, tenant))
  const waits = all.flatMap((each) => waitOf(each, since))
  const [medianMs, longestMs] = [atShare(waits, 0.5), atShare(waits, 1)]
  return {
    waiting: all.filter(({ state }) => state === 'waiting').length,
    answered: waits.length,
    ...(medianMs !== undefined && { medianMs }),
    ...(longestMs !== undefined && { longestMs }),
  }
}

function waitOf({ state, askedAt, answers }: PendingApproval, since: number): readonly number[] {
  const answered = answers.at(-1)?.at
  if (state === 'waiting' || answered === undefined || answered < since) return []
  return [Math.max(0, answered - askedAt)]
}

/** The smallest value that this share of the values does not pass. */
function atShare(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.ceil(sorted.length * share) - 1]
}

export const overviewEndpoints: readonly Endpoint[] = [show]
