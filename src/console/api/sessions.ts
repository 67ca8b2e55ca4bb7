import type { Store } from '../../contract/store.ts'
import { findCalls, type ListedCall } from '../../evidence/find-calls.ts'
import { readRecord } from '../../kit/result/read-record.ts'
import type { FromSchema } from '../../define/infer-input.ts'
import { endpoint, type Endpoint } from '../base/endpoint.ts'
import { readCount } from '../base/read-query.ts'
import { tenantsOf } from '../base/roles.ts'
import { callRow, toRow } from './call-row.ts'

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
    open: { type: 'array', items: callRow, description: 'Its calls that run or wait now.' },
    last: callRow,
  },
  required: ['tenant', 'session', 'actor', 'role', 'open', 'last'],
} as const

export type SessionRow = FromSchema<typeof sessionRow>

const list = endpoint({
  method: 'GET',
  path: '/api/sessions',
  summary: `The sessions that made the last ${most.calls} calls of a time, and what each does now; the one with the newest call first.`,
  role: 'viewer',
  query: { minutes: `How far back, from 1 to ${longest}. Default: 60.` },
  answer: {
    type: 'object',
    properties: { sessions: { type: 'array', items: sessionRow } },
    required: ['sessions'],
  },
  run({ visitor, query, parts: { runtime } }) {
    const minutes = readCount(query, { name: 'minutes', usual: 60, most: longest })
    if (minutes instanceof Response) return minutes
    const { store, runs } = runtime
    const tenants = tenantsOf(visitor, store.tenants())
    const since = Date.now() - minutes * 60_000
    const calls = findCalls(store, { tenants, since, limit: most.calls })
    const { tenant } = visitor
    const known = runs.list({ limit: most.runs, ...(tenant !== undefined && { tenant }) })
    const groups = Map.groupBy(calls, (call) => JSON.stringify([call.tenant, call.session]))
    return {
      sessions: [...groups.values()].map((own) => {
        const row = toSessionRow(store, own)
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

/** Of the calls of one session, the newest first. */
function toSessionRow(store: Store, calls: readonly ListedCall[]): SessionRow {
  const rows = calls.map(toRow)
  const [last] = rows
  if (last === undefined) throw new TypeError('A group of calls has a call.')
  const { tenant, session, actor, role } = last
  const [first] = store.records({ tenant, session, kind: 'begin', limit: 1 })
  const parent = first && readRecord(first.text, 'begin').parents?.[0]?.session
  return {
    tenant,
    session,
    actor,
    role,
    ...(parent !== undefined && { parent }),
    open: rows.filter(({ outcome }) => outcome === 'running' || outcome === 'waiting'),
    last,
  }
}

export const sessionEndpoints: readonly Endpoint[] = [list]
