import type { StoredRun } from '../../contract/agent-run.ts'
import { findCalls } from '../../evidence/find-calls.ts'
import { answerProblem } from '../base/answers.ts'
import { endpoint, type Endpoint, type Question } from '../base/endpoint.ts'
import { mostRows, readCount } from '../base/read-query.ts'
import { everyTenant } from '../../contract/mcp/console-login.ts'
import { mayDo, sees } from '../base/roles.ts'
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
  reach: 'each',
  query: { limit: `At most so many, up to ${mostRows}. Default: 50.` },
  answer: { type: 'object', properties: { runs: { type: 'array', items: run } }, required: ['runs'] },
  run({ visitor, query, tenants, parts }) {
    const limit = readCount(query, { name: 'limit', usual: 50, most: mostRows })
    if (limit instanceof Response) return limit
    const { runs } = parts.runtime
    if (mayDo(visitor, 'viewer', everyTenant)) return { runs: runs.list({ limit }).map(toJsonObject) }
    const own = tenants.flatMap((tenant) => runs.list({ limit, tenant }))
    const newest = own.toSorted((one, other) => other.startedAt - one.startedAt).slice(0, limit)
    return { runs: newest.map(toJsonObject) }
  },
})

const show = endpoint({
  method: 'GET',
  path: '/api/runs/{run}',
  summary: 'A run: what was said in it, secrets redacted, its calls, and the runs of its children.',
  role: 'viewer',
  reach: ofRun,
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
  run(asked) {
    const { parts } = asked
    const { runs, store } = parts.runtime
    const found = findRun(asked)
    if (found === undefined) return noRun()
    const { tenant, session } = found
    const calls = findCalls(store, { tenants: [tenant], session, limit: mostCalls }).toReversed()
    const isChild = ({ parent }: StoredRun): boolean => parent?.run === found.id
    return {
      run: toJsonObject(found),
      transcript: parts.redactor.json(runs.transcript(found.id, tenant).map(toJsonObject)),
      calls: calls.map(toRow),
      children: runs.list({ tenant, limit: mostRows }).filter(isChild).map(toJsonObject),
    }
  },
})

const showAll = endpoint({
  method: 'POST',
  path: '/api/runs/{run}/unredacted',
  summary: 'What was said in a run, as its model has it, secrets too. The evidence says who looked.',
  role: 'operator',
  reach: ofRun,
  body: { type: 'object', properties: {}, additionalProperties: false },
  answer: {
    type: 'object',
    properties: { transcript: { type: 'array', items: { type: 'object' } } },
    required: ['transcript'],
  },
  async run(asked) {
    const found = findRun(asked)
    if (found === undefined) return noRun()
    const { visitor, parts } = asked
    const { store, runs } = parts.runtime
    const { id, tenant, session } = found
    const message = `${visitor.actor} looked at the conversation of the run ${id} without redaction`
    const about = { event: 'unredacted_shown', tenant, session, at: Date.now() } as const
    const record = { kind: 'note', ...about, actor: visitor.actor, message, data: { run: id } } as const
    await store.append([{ record, body: null }])
    return { transcript: runs.transcript(id, tenant).map(toJsonObject) }
  },
})

function ofRun(question: Question): readonly string[] | Response {
  const found = findRun(question)
  return found === undefined ? noRun() : [found.tenant]
}

function noRun(): Response {
  return answerProblem({ status: 404, detail: 'There is no such run.' })
}

function findRun({ visitor, path, parts }: Question): StoredRun | undefined {
  const { runs } = parts.runtime
  const id = path['run'] ?? ''
  if (mayDo(visitor, 'viewer', everyTenant)) return runs.find(id)
  const own = [...visitor.roles.keys()].flatMap((tenant) => runs.find(id, tenant) ?? [])
  return own.find(({ tenant }) => sees(visitor, tenant))
}

export const runEndpoints: readonly Endpoint[] = [list, show, showAll]
