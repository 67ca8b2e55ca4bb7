import type { StoredRun } from '../../contract/agent-run.ts'
import { findCalls } from '../../evidence/find-calls.ts'
import { answerProblem } from '../base/answers.ts'
import { endpoint, type Endpoint } from '../base/endpoint.ts'
import { mostRows, readCount } from '../base/read-query.ts'
import { sees } from '../base/roles.ts'
import { callRow, toRow } from './call-row.ts'
import { toJsonObject } from '../base/to-json-object.ts'

const run = { type: 'object', description: 'As `handrail runs --json` shows it.' } as const
/** Calls of one run that are shown. */
const mostCalls = 2_000

const list = endpoint({
  method: 'GET',
  path: '/api/runs',
  summary: 'The runs of agents, the newest first.',
  role: 'viewer',
  query: { limit: `At most so many, up to ${mostRows}. Default: 50.` },
  answer: { type: 'object', properties: { runs: { type: 'array', items: run } }, required: ['runs'] },
  run({ visitor, query, parts }) {
    const limit = readCount(query, { name: 'limit', usual: 50, most: mostRows })
    if (limit instanceof Response) return limit
    const { tenant } = visitor
    const found = parts.runtime.runs.list({ limit, ...(tenant !== undefined && { tenant }) })
    return { runs: found.map(toJsonObject) }
  },
})

const show = endpoint({
  method: 'GET',
  path: '/api/runs/{run}',
  summary: 'A run: what was said in it, its calls, and the runs of its children.',
  role: 'viewer',
  answer: {
    type: 'object',
    properties: {
      run,
      transcript: { type: 'array', items: { type: 'object' } },
      calls: { type: 'array', items: callRow, description: 'The oldest first.' },
      children: { type: 'array', items: run },
    },
    required: ['run', 'transcript', 'calls', 'children'],
  },
  run({ visitor, path, parts }) {
    const { runs, store } = parts.runtime
    const found = runs.find(path['run'] ?? '', visitor.tenant)
    if (found === undefined || !sees(visitor, found.tenant))
      return answerProblem({ status: 404, detail: 'There is no such run.' })
    const { tenant, session } = found
    const calls = findCalls(store, { tenants: [tenant], session, limit: mostCalls }).toReversed()
    const isChild = ({ parent }: StoredRun): boolean => parent?.run === found.id
    return {
      run: toJsonObject(found),
      transcript: runs.transcript(found.id, tenant).map(toJsonObject),
      calls: calls.map(toRow),
      children: runs.list({ tenant, limit: mostRows }).filter(isChild).map(toJsonObject),
    }
  },
})

export const runEndpoints: readonly Endpoint[] = [list, show]
