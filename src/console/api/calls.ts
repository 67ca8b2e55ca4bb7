import type { StoredRecord } from '../../contract/evidence.ts'
import type { Store } from '../../contract/store.ts'
import { readRecord } from '../../kit/result/read-record.ts'
import { findCallPage, outcomes, type WantedCalls } from '../../evidence/find-calls.ts'
import { readCalls } from '../../evidence/read-calls.ts'
import { answerProblem } from '../base/answers.ts'
import { endpoint, type Asked, type Endpoint, type Question } from '../base/endpoint.ts'
import { mostRows, placeQuery, readPart, readTime } from '../base/read-query.ts'
import { sees } from '../base/roles.ts'
import { callRow, toRow } from './call-row.ts'
import { toCursorText } from '../base/cursor.ts'
import { toJsonObject } from '../base/to-json-object.ts'

const list = endpoint({
  method: 'GET',
  path: '/api/calls',
  summary:
    'The calls that began last, the newest first; of those with an outcome other than ok, the ones that ended last.',
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
    ...placeQuery,
    until:
      'Only those that began before then, in milliseconds since the epoch; of an outcome other than ok, that ended before then. What is far out of order may be left out.',
  },
  answer: {
    type: 'object',
    properties: {
      calls: { type: 'array', items: callRow },
      next: {
        type: 'string',
        description:
          'Of the page after this one, which may be there even if this one has few calls or none: no page takes long. Absent if there is none.',
      },
    },
    required: ['calls'],
  },
  run(asked) {
    const wanted = readWanted(asked)
    if (wanted instanceof Response) return wanted
    const { calls, next } = findCallPage(asked.parts.runtime.store, wanted)
    return { calls: calls.map(toRow), ...(next !== undefined && { next: toCursorText(next) }) }
  },
})

function readWanted(asked: Asked): WantedCalls | Response {
  const { query } = asked
  const part = readPart(asked, 100)
  if (part instanceof Response) return part
  const given = query.get('outcome')
  const since = readTime(query, 'since')
  if (since instanceof Response) return since
  const outcome = outcomes.find((each) => each === given)
  if (given !== null && outcome === undefined)
    return answerProblem({ status: 400, detail: `The outcome is one of ${outcomes.join(', ')}.` })
  const [tool, actor, session] = ['tool', 'actor', 'session'].map((name) => query.get(name))
  return {
    ...part,
    ...(since !== undefined && { since }),
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
      run: { type: 'string', description: 'The run of an agent that it is of. Absent if there is none.' },
      chain: {
        type: 'object',
        description: 'What proves its records.',
        properties: {
          records: { type: 'integer', description: 'In the chain of its tenant.' },
          signed: {
            type: 'object',
            description: 'The first signature over all of them. Absent if there is none yet.',
            properties: {
              sequence: { type: 'integer', description: 'Of the checkpoint.' },
              at: { type: 'integer' },
              key: { type: 'string' },
            },
            required: ['sequence', 'at', 'key'],
          },
        },
        required: ['records'],
      },
    },
    required: ['records', 'chain'],
  },
  async run(asked) {
    const [tenant = ''] = asked.tenants
    const records = findRecords(asked).filter((record) => record.tenant === tenant)
    const [read] = readCalls(records)
    const { store, runs } = asked.parts.runtime
    const session = records[0]?.session
    const run = runs.list({ tenant, limit: mostRows }).find((each) => each.session === session)
    const explanation = await asked.parts.explain(asked.path['call'] ?? '', tenant)
    return {
      records: records.map(({ sequence, hash, text }) => ({ sequence, hash, record: JSON.parse(text) })),
      ...(read?.input !== undefined && { input: read.input }),
      ...(read?.result !== undefined && { result: toJsonObject(read.result) }),
      ...(explanation !== undefined && { explanation: toJsonObject(explanation) }),
      ...(run !== undefined && { run: run.id }),
      chain: {
        records: store.head(tenant)?.sequence ?? 0,
        ...findSignature(store, tenant, Math.max(...records.map(({ sequence }) => sequence))),
      },
    }
  },
})

/** A checkpoint is added every thousand records at the latest, by each process that signs. */
const mostUnsigned = 5_000

/** The first checkpoint over this record. */
function findSignature(
  store: Store,
  tenant: string,
  sequence: number,
): { signed: { sequence: number; at: number; key: string } } | undefined {
  const place = { tenant, after: sequence, before: sequence + mostUnsigned }
  for (const stored of store.records({ ...place, kind: 'checkpoint' })) {
    const { sequence: covered, at, key } = readRecord(stored.text, 'checkpoint')
    if (covered >= sequence) return { signed: { sequence: stored.sequence, at, key } }
  }
  return undefined
}

/** What a visitor sees of a call. */
function findRecords({ visitor, path, parts }: Question): StoredRecord[] {
  const all = [...parts.runtime.store.records({ call: path['call'] ?? '' })]
  return all.filter(({ tenant }) => sees(visitor, tenant))
}

export const callEndpoints: readonly Endpoint[] = [list, show]
