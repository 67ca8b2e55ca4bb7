import type { StoredRun } from '../../contract/agent-run.ts'
import type { CountedEnds } from '../../contract/store.ts'
import { findCallPage } from '../../evidence/find-calls.ts'
import { endpoint, type Asked, type Endpoint } from '../base/endpoint.ts'
import { listRuns } from '../base/list-runs.ts'
import { readCount } from '../base/read-query.ts'
import { everyTenant } from '../../contract/mcp/console-login.ts'
import { mayDo, sees } from '../base/roles.ts'
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
    const runs = listRuns(asked, newest.runs)
    const waits = toWaits(asked)
    return {
      since,
      until,
      isWhole,
      counts: count(ends, open.length),
      times: toTimes(parts, { open, runs, waits, until }),
      tools: toTools(ends, open),
      approvals: countWaits(waits, since),
      spend: toSpend(asked, runs, since),
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
  const { calls } = findCallPage(runtime.store, { tenants, since, limit: newest.calls })
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

/** What happens beside ends of calls, of any time. */
interface Beside {
  readonly open: readonly Open[]
  readonly runs: readonly StoredRun[]
  readonly waits: readonly Wait[]
  readonly until: number
}

function toTimes(parts: readonly CountedPart[], { open, runs, waits, until }: Beside): Overview['times'] {
  return parts.map(({ at, ends }, index) => {
    const end = parts[index + 1]?.at ?? Number.POSITIVE_INFINITY
    const isIn = (time: number): boolean => time >= at && time < end
    return {
      at,
      ...count(ends, open.filter((call) => isIn(call.at)).length),
      ...(at >= until - waitsKnownMs && {
        waited: waits.filter((wait) => wait.askedAt < end && wait.over >= at).length,
      }),
      ...sumUp(runs.filter(({ startedAt }) => isIn(startedAt))),
    }
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
function toSpend({ tenants }: Asked, runs: readonly StoredRun[], since: number): Overview['spend'] {
  const isWhole = tenants.every((tenant) => {
    const own = runs.filter((run) => run.tenant === tenant)
    return own.length < newest.runs || own.some(({ startedAt }) => startedAt < since)
  })
  return { ...sumUp(runs.filter(({ startedAt }) => startedAt >= since)), isWhole }
}

function sumUp(runs: readonly StoredRun[]): Omit<Overview['spend'], 'isWhole'> {
  const sum = (of: (usage: StoredRun['usage']) => number): number =>
    runs.reduce((total, { usage }) => total + of(usage), 0)
  return {
    runs: runs.length,
    tokens: sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens),
    cost: sum(({ cost }) => cost ?? 0),
  }
}

/** A question to a person: when it was asked, and until when it waited: `Infinity` if it still does. */
interface Wait {
  readonly askedAt: number
  readonly over: number
  readonly isAnswered: boolean
}

/** So long it is known of a question that it was answered, or ran out. */
const waitsKnownMs = 24 * hour

function toWaits({ visitor, parts: { runtime } }: Asked): readonly Wait[] {
  const all = runtime.approvals.list({ state: 'all' }).filter(({ tenant }) => sees(visitor, tenant))
  return all.map(({ state, askedAt, expiresAt, answers }) => {
    const isAnswered = state !== 'waiting' && state !== 'expired'
    const answered = isAnswered ? answers.at(-1)?.at : undefined
    const over = state === 'waiting' ? Number.POSITIVE_INFINITY : (answered ?? expiresAt)
    return { askedAt, over, isAnswered }
  })
}

/** How long persons were waited for. */
function countWaits(all: readonly Wait[], since: number): Overview['approvals'] {
  const answered = all.filter(({ isAnswered, over }) => isAnswered && over >= since)
  const each = answered.map(({ askedAt, over }) => [Math.max(0, over - askedAt), 1] as const)
  const [medianMs, longestMs] = [atShare(each, 0.5), atShare(each, 1)]
  return {
    waiting: all.filter(({ over }) => over === Number.POSITIVE_INFINITY).length,
    answered: answered.length,
    ...(medianMs !== undefined && { medianMs }),
    ...(longestMs !== undefined && { longestMs }),
  }
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
