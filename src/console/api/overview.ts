import type { PendingApproval } from '../../contract/pending-approval.ts'
import type { Runtime } from '../../contract/runtime.ts'
import type { CountedEnds } from '../../contract/store.ts'
import { findCalls } from '../../evidence/find-calls.ts'
import { endpoint, type Asked, type Endpoint } from '../base/endpoint.ts'
import { listRuns } from '../base/list-runs.ts'
import { readCount } from '../base/read-query.ts'
import { everyTenant } from '../../contract/mcp/console-login.ts'
import { mayDo, sees, type Visitor } from '../base/roles.ts'
import { countLately, type CountedPart } from './count-lately.ts'
import { overview, type Overview } from './overview-row.ts'

const longest = 31 * 24 * 60
/** Calls that are looked at for such that have not ended, and runs for what they cost. */
const newest = { calls: 300, runs: 500 } as const
const hour = 3_600_000

const show = endpoint({
  method: 'GET',
  path: '/api/overview',
  summary:
    'Calls that ended in the last minutes, denials, errors, times and spend, and what is wrong now. If not all is counted yet, the next answer has more.',
  role: 'viewer',
  reach: 'each',
  query: { minutes: `How far back, from 1 to ${longest}; of more than an hour, whole hours. Default: 60.` },
  answer: overview,
  run(asked) {
    const minutes = readCount(asked.query, { name: 'minutes', usual: 60, most: longest })
    if (minutes instanceof Response) return minutes
    const until = Date.now()
    const { parts, isWhole, since } = countAll(asked, { minutes, until })
    const ends = parts.flatMap((part) => part.ends)
    const open = findOpen(asked, since)
    return {
      since,
      until,
      isWhole,
      counts: count(ends, open.length),
      times: toTimes(parts, open),
      tools: toTools(ends, open),
      approvals: toWaits(asked.parts.runtime, asked.visitor, since),
      spend: toSpend(asked, since),
    }
  },
})

const health = endpoint({
  method: 'GET',
  path: '/api/health',
  summary:
    'Whether the store takes records, and to who sees all tenants, what `handrail doctor` says of the home folder.',
  role: 'viewer',
  reach: 'each',
  answer: {
    type: 'object',
    properties: {
      troubles: {
        type: 'array',
        items: { type: 'string' },
        description: 'What is wrong right now, in words. Empty if nothing is.',
      },
      findings: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            holds: { type: 'boolean' },
            detail: { type: 'string' },
          },
          required: ['id', 'holds', 'detail'],
        },
      },
    },
    required: ['troubles', 'findings'],
  },
  async run({ visitor, parts: { runtime, examine } }) {
    const { readOnly, trouble } = runtime.store
    // What stands in the home folder is of all tenants.
    const findings = mayDo(visitor, 'viewer', everyTenant) ? await examine() : []
    return {
      troubles: [readOnly, trouble].filter((each) => each !== undefined),
      findings: findings.map(({ id, holds, detail }) => ({ id, holds, detail })),
    }
  },
})

/** The parts of the time with the ends of all tenants that the visitor sees, the oldest first. */
function countAll(
  { tenants, parts: { runtime } }: Asked,
  { minutes, until }: { minutes: number; until: number },
): { parts: CountedPart[]; isWhole: boolean; since: number } {
  const length = minutes <= 60 ? minutes * 2_000 : hour
  const since = Math.floor((until - minutes * 60_000) / length + 1) * length
  const counted = tenants.map((tenant) => countLately(runtime.store, { tenant, since, until, length }))
  const groups = Map.groupBy(
    counted.flatMap(({ parts }) => parts),
    ({ at }) => at,
  )
  const parts: CountedPart[] = []
  for (let at = since; at < until; at += length)
    parts.push({ at, ends: (groups.get(at) ?? []).flatMap(({ ends }) => ends) })
  return { parts, isWhole: counted.every(({ isWhole }) => isWhole), since }
}

type Open = { readonly tool: string; readonly at: number }

/** Of the newest calls, those that have not ended. */
function findOpen({ tenants, parts: { runtime } }: Asked, since: number): readonly Open[] {
  const calls = findCalls(runtime.store, { tenants, since, limit: newest.calls })
  return calls
    .filter(({ outcome }) => outcome === 'running' || outcome === 'waiting')
    .map(({ tool, begun }) => ({ tool, at: begun.at }))
}

function count(ends: readonly CountedEnds[], open: number): Overview['counts'] {
  const of = (...outcomes: readonly string[]): number =>
    ends.reduce((sum, { outcome, calls }) => sum + (outcomes.includes(outcome) ? calls : 0), 0)
  const [ok, denied, failed, aborted] = [of('ok'), of('denied'), of('failed', 'unknown'), of('aborted')]
  return { calls: ok + denied + failed + aborted + open, ok, denied, failed, aborted, open }
}

function toTimes(parts: readonly CountedPart[], open: readonly Open[]): Overview['times'] {
  return parts.map(({ at, ends }, index) => {
    const end = parts[index + 1]?.at ?? Number.POSITIVE_INFINITY
    return { at, ...count(ends, open.filter((call) => call.at >= at && call.at < end).length) }
  })
}

function toTools(ends: readonly CountedEnds[], open: readonly Open[]): Overview['tools'] {
  const groups = Map.groupBy(ends, ({ tool }) => tool)
  for (const { tool } of open) if (!groups.has(tool)) groups.set(tool, [])
  const rows = [...groups].map(([tool, own]) => {
    const p95Ms = atShare(
      own.map(({ durationMs, calls }) => [durationMs, calls]),
      0.95,
    )
    const running = open.filter((call) => call.tool === tool).length
    return { tool, ...count(own, running), ...(p95Ms !== undefined && { p95Ms }) }
  })
  return rows.toSorted((one, other) => other.calls - one.calls)
}

/** What the runs that began in that time cost so far, of those tenants that the visitor sees. */
function toSpend(asked: Asked, since: number): Overview['spend'] {
  const found = listRuns(asked, newest.runs).filter(({ startedAt }) => startedAt >= since)
  const sum = (of: (usage: (typeof found)[number]['usage']) => number): number =>
    found.reduce((total, { usage }) => total + of(usage), 0)
  return {
    runs: found.length,
    tokens: sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens),
    cost: sum(({ cost }) => cost ?? 0),
  }
}

/** How long persons were waited for. What was used or ran out is known for a day. */
function toWaits(
  { approvals }: Pick<Runtime, 'approvals'>,
  visitor: Visitor,
  since: number,
): Overview['approvals'] {
  const all = approvals.list({ state: 'all' }).filter(({ tenant }) => sees(visitor, tenant))
  const waits = all.flatMap((each) => waitOf(each, since))
  const each = waits.map((wait) => [wait, 1] as const)
  const [medianMs, longestMs] = [atShare(each, 0.5), atShare(each, 1)]
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

/** The smallest value that this share of the values does not pass. Each value comes with how often it is there. */
function atShare(
  values: readonly (readonly [value: number, times: number])[],
  share: number,
): number | undefined {
  const sorted = values.toSorted(([one], [other]) => one - other)
  let left = Math.ceil(sorted.reduce((sum, [, times]) => sum + times, 0) * share)
  return sorted.find(([, times]) => (left -= times) <= 0)?.[0]
}

export const overviewEndpoints: readonly Endpoint[] = [show, health]
