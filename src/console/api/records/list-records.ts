import type { StoredRecord } from '../../../contract/evidence.ts'
import type { FromSchema } from '../../../define/infer-input.ts'
import { timeOf } from '../../../evidence/chain/parse-record.ts'
import { findPlaceSoon } from '../../../evidence/find-place.ts'
import { readRecord } from '../../../kit/result/read-record.ts'
import { writeCursor } from '../../base/cursor.ts'
import { endpoint, type Endpoint } from '../../base/endpoint.ts'
import { mostRows, ofTenant, placeQuery, readPart } from '../../base/read-query.ts'

const recordRow = {
  type: 'object',
  properties: {
    tenant: { type: 'string' },
    sequence: { type: 'integer', description: 'Where it stands in the chain of its tenant.' },
    at: { type: 'integer', description: 'In milliseconds since the epoch. Absent if it is unreadable.' },
    kind: {
      type: 'string',
      description: 'begin, end, note or checkpoint; unreadable if another program made something else of it.',
    },
    hash: { type: 'string' },
    call: { type: 'string' },
    tool: { type: 'string' },
    actor: { type: 'string' },
    outcome: { type: 'string', description: 'Of an end.' },
    event: { type: 'string', description: 'Of a note.' },
    message: { type: 'string', description: 'Of a note.' },
  },
  required: ['tenant', 'sequence', 'kind', 'hash'],
} as const

export type RecordRow = FromSchema<typeof recordRow>

const list = endpoint({
  method: 'GET',
  path: '/api/records',
  summary: 'The records of the chain of one tenant, the newest first.',
  role: 'viewer',
  reach: ofTenant,
  query: {
    limit: `At most so many, up to ${mostRows}. Default: 50.`,
    before: 'The `next` of the page before.',
    ...placeQuery,
    tenant: 'Whose chain it is. Default: the usual one of the visitor.',
  },
  answer: {
    type: 'object',
    properties: {
      records: { type: 'array', items: recordRow },
      next: { type: 'string', description: 'Of the page after this one. Absent if there is none.' },
    },
    required: ['records'],
  },
  run(asked) {
    const part = readPart(asked, 50)
    if (part instanceof Response) return part
    const { store } = asked.parts.runtime
    const { limit, until } = part
    const [tenant = ''] = asked.tenants
    const before =
      part.before.get(tenant) ?? (until === undefined ? undefined : findPlaceSoon(store, tenant, until))
    const place = { tenant, ...(before !== undefined && { before }) }
    const found = [...store.records({ ...place, newestFirst: true, limit })]
    return {
      records: found.map(toRecordRow),
      ...(found.length === limit && { next: writeCursor(found) }),
    }
  },
})

function toRecordRow({ tenant, sequence, hash, text }: StoredRecord): RecordRow {
  if (timeOf(text) === undefined) return { tenant, sequence, kind: 'unreadable', hash }
  const { at, kind, ...record }: ReturnType<typeof readRecord> = readRecord(text)
  const said = Object.entries(record).filter(
    ([name, value]) => names.has(name) && typeof value === 'string' && value !== '',
  )
  return { tenant, sequence, at, kind, hash, ...Object.fromEntries(said) }
}

const names: ReadonlySet<string> = new Set(['call', 'tool', 'actor', 'outcome', 'event', 'message'])

export const recordEndpoints: readonly Endpoint[] = [list]
