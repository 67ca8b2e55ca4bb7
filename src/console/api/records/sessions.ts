import type { PendingApproval } from '../../../contract/pending-approval.ts'
import { findCallPage, type ListedCall } from '../../../evidence/find-calls.ts'
import type { FromSchema } from '../../../define/infer-input.ts'
import { endpoint, type Endpoint } from '../../base/endpoint.ts'
import { readCount } from '../../base/read-query.ts'
import { listRuns } from '../../base/list-runs.ts'
import { sees } from '../../base/roles.ts'
import { callRow, toRow } from '../call-row.ts'

/** So many calls are looked at, the newest, and so many runs. */
const most = { calls: 300, runs: 200 } as const
const longest = 24 * 60

/** A session that worked lately, and what it does now. */
export const sessionRow = {
  type: 'object',
  properties: {
    tenant: { type: 'string' },
    session: { type: 'string' },
    parent: { type: 'string', description: 'The session that it was opened under. Absent if none.' },
    actor: { type: 'string' },
    role: { type: 'string' },
    run: { type: 'string', description: 'The run of an agent that works in it, the newest if several do.' },
    agent: { type: 'string', description: 'The definition of that agent.' },
    state: { type: 'string', description: 'How that run stands: running, or why it ended.' },
    open: { type: 'array', items: callRow, description: 'Its calls that run now.' },
    waits: {
      type: 'array',
      items: {
        type: 'object',
        properties: { tool: { type: 'string' }, at: { type: 'integer' } },
        required: ['tool', 'at'],
      },
      description: 'What waits for a person, and since when.',
    },
    last: callRow,
  },
  required: ['tenant', 'session', 'actor', 'role', 'open', 'waits'],
} as const

export type SessionRow = FromSchema<typeof sessionRow>

const list = endpoint({
  method: 'GET',
  path: '/api/sessions',
  summary: `The sessions that made the last ${most.calls} calls of a time, and what each does now; the one with the newest call first.`,
  role: 'viewer',
  reach: 'each',
  query: { minutes: `How far back, from 1 to ${longest}. Default: 60.` },
  answer: {
    type: 'object',
    properties: { sessions: { type: 'array', items: sessionRow } },
    required: ['sessions'],
  },
  run(asked) {
    const { visitor, query, tenants, parts } = asked
    const minutes = readCount(query, { name: 'minutes', usual: 60, most: longest })
    if (minutes instanceof Response) return minutes
    const { runtime } = parts
    const { store } = runtime
    const since = Date.now() - minutes * 60_000
    const { calls } = findCallPage(store, { tenants, since, limit: most.calls })
    const known = listRuns(asked, most.runs)
    const waiting = runtime.approvals.list({ state: 'waiting' }).filter((each) => sees(visitor, each.tenant))
    const groups = new Map<string, Work>()
    const workOf = (of: string, session: string): Work => {
      const key = JSON.stringify([of, session])
      const work = groups.get(key) ?? { calls: [], waiting: [] }
      groups.set(key, work)
      return work
    }
    for (const call of calls) workOf(call.tenant, call.session).calls.push(call)
    for (const each of waiting) workOf(each.tenant, each.request.session).waiting.push(each)
    return {
      sessions: [...groups.values()].flatMap((work) => {
        const row = toSessionRow(work)
        if (row === undefined) return []
        const run = known.find((each) => each.session === row.session && each.tenant === row.tenant)
        if (run === undefined) return row
        return {
          ...row,
          run: run.id,
          state: run.endReason ?? run.state,
          ...(run.definition !== undefined && { agent: run.definition }),
        }
      }),
    }
  },
})

/** What a session did lately, the newest first, and what of it waits. */
interface Work {
  readonly calls: ListedCall[]
  readonly waiting: PendingApproval[]
}

/** Undefined for a session that does nothing. */
function toSessionRow({ calls, waiting }: Work): SessionRow | undefined {
  const rows = calls.map(toRow)
  const [last] = rows
  const [asking] = waiting
  const who = last ?? (asking && { ...asking.request.principal, session: asking.request.session })
  if (who === undefined) return undefined
  const { tenant, session, actor, role } = who
  const parents = calls[0] === undefined ? asking?.request.parents : calls[0].parents
  const parent = parents?.[0]?.session
  return {
    tenant,
    session,
    actor,
    role,
    ...(parent !== undefined && { parent }),
    open: rows.filter(({ outcome }) => outcome === 'running'),
    waits: waiting.map(({ request: { tool }, askedAt }) => ({ tool, at: askedAt })),
    ...(last !== undefined && { last }),
  }
}

export const sessionEndpoints: readonly Endpoint[] = [list]
