import type { StoredRecord } from '../../contract/evidence.ts'
import { findCalls, outcomes, type WantedCalls } from '../../evidence/find-calls.ts'
import { readCalls } from '../../evidence/read-calls.ts'
import { answerProblem } from '../base/answers.ts'
import { endpoint, type Asked, type Endpoint, type Question } from '../base/endpoint.ts'
import { mostRows, readPage } from '../base/read-query.ts'
import { sees } from '../base/roles.ts'
import { callRow, toRow } from './call-row.ts'
import { writeCursor } from '../base/cursor.ts'
import { toJsonObject } from '../base/to-json-object.ts'

const list = endpoint({
  method: 'GET',
  path: '/api/calls',
  summary: 'The calls that began last, the newest first.',
  role: 'viewer',
  reach: 'each',
  query: {
    limit: `At most so many, up to ${mostRows}. Default: 100.`,
    before: 'The `next` of the page before.',
    tool: 'A pattern of names of tools.',
    actor: 'Only of this actor.',
    session: 'Only of this session.',
    outcome: `One of ${outcomes.join(', ')}.`,
    since: 'Only those that began then or later, in milliseconds since the epoch.',
  },
  answer: {
    type: 'object',
    properties: {
      calls: { type: 'array', items: callRow },
      next: { type: 'string', description: 'Of the page after this one. Absent if there is none.' },
    },
    required: ['calls'],
  },
  run(asked) {
    const wanted = readWanted(asked)
    if (wanted instanceof Response) return wanted
    const found = findCalls(asked.parts.runtime.store, wanted)
    const calls = found.map(toRow)
    return {
      calls,
      ...(calls.length === wanted.limit && { next: writeCursor(calls, wanted.before) }),
    }
  },
})

function readWanted({ query, tenants }: Asked): WantedCalls | Response {
  const page = readPage(query, 100)
  if (page instanceof Response) return page
  const since = Number(query.get('since') ?? 0)
  if (!Number.isFinite(since))
    return answerProblem({ status: 400, detail: '"since" is a time in milliseconds since the epoch.' })
  const given = query.get('outcome')
  const outcome = outcomes.find((each) => each === given)
  if (given !== null && outcome === undefined)
    return answerProblem({ status: 400, detail: `The outcome is one of ${outcomes.join(', ')}.` })
  const [tool, actor, session] = ['tool', 'actor', 'session'].map((name) => query.get(name))
  return {
    tenants,
    ...page,
    since,
    ...(tool && { tool }),
    ...(actor && { actor }),
    ...(session && { session }),
    ...(outcome !== undefined && { outcome }),
  }
}

const show = endpoint({
  method: 'GET',
  path: '/api/calls/{call}',
  summary:
    'A call: its records with their place in the chain, why it was decided so, and how it would be decided now.',
  role: 'viewer',
  reach(question) {
    const [first] = findRecords(question)
    return first === undefined
      ? answerProblem({ status: 404, detail: 'There is no such call.' })
      : [first.tenant]
  },
  answer: {
    type: 'object',
    properties: {
      records: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            sequence: { type: 'integer' },
            hash: { type: 'string' },
            record: { type: 'object' },
          },
          required: ['sequence', 'hash', 'record'],
        },
      },
      input: { type: 'object', description: 'Secrets redacted. Absent if it was not kept.' },
      result: {
        type: 'object',
        description: 'Secrets redacted. Absent of a call that has not ended, or was pruned.',
      },
      explanation: { type: 'object', description: 'As `handrail explain --call --json` shows it.' },
    },
    required: ['records'],
  },
  async run(asked) {
    const [tenant = ''] = asked.tenants
    const records = findRecords(asked).filter((record) => record.tenant === tenant)
    const [read] = readCalls(records)
    const explanation = await asked.parts.explain(asked.path['call'] ?? '', tenant)
    return {
      records: records.map(({ sequence, hash, text }) => ({ sequence, hash, record: JSON.parse(text) })),
      ...(read?.input !== undefined && { input: read.input }),
      ...(read?.result !== undefined && { result: toJsonObject(read.result) }),
      ...(explanation !== undefined && { explanation: toJsonObject(explanation) }),
    }
  },
})

/** What a visitor sees of a call. */
function findRecords({ visitor, path, parts }: Question): StoredRecord[] {
  const all = [...parts.runtime.store.records({ call: path['call'] ?? '' })]
  return all.filter(({ tenant }) => sees(visitor, tenant))
}

export const callEndpoints: readonly Endpoint[] = [list, show]
