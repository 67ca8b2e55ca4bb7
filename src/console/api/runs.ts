import type { StoredRun } from '../../contract/agent-run.ts'
import { findCalls } from '../../evidence/find-calls.ts'
import { readCalls, type RecordedCall } from '../../evidence/read-calls.ts'
import { answerProblem } from '../base/answers.ts'
import { endpoint, type Endpoint, type Question } from '../base/endpoint.ts'
import { listRuns } from '../base/list-runs.ts'
import { mostRows, readCount } from '../base/read-query.ts'
import { tenantsOf } from '../base/roles.ts'
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
  run(asked) {
    const limit = readCount(asked.query, { name: 'limit', usual: 50, most: mostRows })
    if (limit instanceof Response) return limit
    return { runs: listRuns(asked, limit).slice(0, limit).map(toJsonObject) }
  },
})

const show = endpoint({
  method: 'GET',
  path: '/api/runs/{run}',
  summary: 'A run: what was said in it, secrets redacted, its calls, and the runs of its children.',
  role: 'viewer',
  reach: reachRun,
  answer: {
    type: 'object',
    properties: {
      run,
      transcript: { type: 'array', items: { type: 'object' } },
      calls: { type: 'array', items: callRow, description: 'The oldest first.' },
      children: { type: 'array', items: run },
      files: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            path: { type: 'string' },
            action: { type: 'string' },
            call: { type: 'string' },
          },
          required: ['path', 'action', 'call'],
        },
        description: 'What its calls changed, as they planned it: each file once, with the last call.',
      },
      artifacts: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            digest: { type: 'string' },
            name: { type: 'string' },
            mimeType: { type: 'string' },
            bytes: { type: 'integer' },
            call: { type: 'string' },
          },
          required: ['digest', 'mimeType', 'bytes', 'call'],
        },
      },
      approvals: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            call: { type: 'string' },
            tool: { type: 'string' },
            at: { type: 'integer' },
            decision: { type: 'string' },
            by: { type: 'string' },
            reason: { type: 'string' },
          },
          required: ['call', 'tool', 'at', 'decision'],
        },
        description: 'What persons answered.',
      },
    },
    required: ['run', 'transcript', 'calls', 'children', 'files', 'artifacts', 'approvals'],
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
      ...toDeliverables(readCalls(store.records({ tenant, session, limit: 3 * mostCalls }))),
      children: runs.list({ tenant, limit: mostRows }).filter(isChild).map(toJsonObject),
    }
  },
})

const showAll = endpoint({
  method: 'POST',
  path: '/api/runs/{run}/unredacted',
  summary: 'What was said in a run, as its model has it, secrets too. The evidence says who looked.',
  role: 'operator',
  reach: reachRun,
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

/** The tenant of the run that the path names. */
export function reachRun(question: Question): readonly string[] | Response {
  const found = findRun(question)
  return found === undefined ? noRun() : [found.tenant]
}

export function noRun(): Response {
  return answerProblem({ status: 404, detail: 'There is no such run.' })
}

/** The run that the path names, if the visitor sees it. */
export function findRun({ visitor, path, parts }: Question, id = path['run'] ?? ''): StoredRun | undefined {
  const { runs, store } = parts.runtime
  for (const tenant of tenantsOf(visitor, store.tenants())) {
    const run = runs.find(id, tenant)
    if (run !== undefined) return run
  }
  return undefined
}

/** What calls left, and who let them. */
function toDeliverables(calls: readonly RecordedCall[]) {
  const files = new Map<string, { path: string; action: string; call: string }>()
  const artifacts = new Map<
    string,
    { digest: string; name?: string; mimeType: string; bytes: number; call: string }
  >()
  for (const { begin, end, operations, result } of calls) {
    const { call } = begin
    if (end?.outcome === 'ok')
      for (const operation of operations)
        if (operation.kind === 'fs.write')
          files.set(operation.path, {
            path: operation.path,
            action: operation.removed === true ? 'removed' : 'written',
            call,
          })
    for (const { digest, name, mimeType, bytes } of result?.artifacts ?? [])
      artifacts.set(digest, { digest, ...(name !== undefined && { name }), mimeType, bytes, call })
  }
  return {
    files: [...files.values()],
    artifacts: [...artifacts.values()],
    approvals: calls.flatMap(({ begin: { call, tool, at, approval } }) => {
      if (approval === undefined) return []
      const { decision, by, reason } = approval
      const said = { ...(by !== undefined && { by }), ...(reason !== undefined && { reason }) }
      return [{ call, tool, at, decision, ...said }]
    }),
  }
}

export const runEndpoints: readonly Endpoint[] = [list, show, showAll]
