import type { Verification } from '../../contract/evidence.ts'
import { findNotes, type ListedNote } from '../../evidence/find-notes.ts'
import { answerProblem } from '../base/answers.ts'
import { readCursor, writeCursor } from '../base/cursor.ts'
import { endpoint, type Endpoint } from '../base/endpoint.ts'
import { sees, tenantsOf, type Visitor } from '../base/roles.ts'
import { chainRow, noteRow, verification, type NoteRow, type Verified } from './evidence-rows.ts'

const most = 500

const chains = endpoint({
  method: 'GET',
  path: '/api/evidence',
  summary: 'The chains of evidence: how long each is, and its last hash.',
  role: 'viewer',
  answer: {
    type: 'object',
    properties: {
      chains: { type: 'array', items: chainRow },
      readOnly: { type: 'string', description: 'Why the store takes no records. Absent if it does.' },
    },
    required: ['chains'],
  },
  run({ visitor, parts: { runtime } }) {
    const { store } = runtime
    const found = tenantsOf(visitor, store.tenants()).flatMap((tenant) => {
      const head = store.head(tenant)
      return head === undefined ? [] : [{ tenant, records: head.sequence, hash: head.hash }]
    })
    return { chains: found, ...(store.readOnly !== undefined && { readOnly: store.readOnly }) }
  },
})

const notes = endpoint({
  method: 'GET',
  path: '/api/notes',
  summary: 'What happened beside calls, to tools, consents, policy and keys: the newest first.',
  role: 'viewer',
  query: {
    limit: `At most so many, up to ${most}. Default: 50.`,
    before: 'The `next` of the page before.',
  },
  answer: {
    type: 'object',
    properties: {
      notes: { type: 'array', items: noteRow },
      next: { type: 'string', description: 'Of the page after this one. Absent if there is none.' },
    },
    required: ['notes'],
  },
  run({ visitor, query, parts: { runtime } }) {
    const limit = Number(query.get('limit') ?? 50)
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > most)
      return answerProblem({ status: 400, detail: `The limit is a whole number from 1 to ${most}.` })
    const before = readCursor(query.get('before'))
    if (before === undefined)
      return answerProblem({ status: 400, detail: '"before" is the "next" of the page before.' })
    const tenants = tenantsOf(visitor, runtime.store.tenants())
    const found = findNotes(runtime.store, { tenants, limit, before })
    return {
      notes: found.map(toNoteRow),
      ...(found.length === limit && { next: writeCursor(found, before) }),
    }
  },
})

function toNoteRow({ tenant, sequence, at, event, message, actor, tool, call }: ListedNote): NoteRow {
  return {
    tenant,
    sequence,
    at,
    event,
    message,
    ...(actor !== undefined && { actor }),
    ...(tool !== undefined && { tool }),
    ...(call !== undefined && { call }),
  }
}

const verify = endpoint({
  method: 'POST',
  path: '/api/evidence/verify',
  summary: 'Holds every record that you see against its chain and signatures, and says what is wrong first.',
  role: 'viewer',
  body: {
    type: 'object',
    properties: { tenant: { type: 'string', description: 'Of this tenant alone.' } },
    additionalProperties: false,
  },
  answer: verification,
  async run({ visitor, body, parts }) {
    const named = typeof body['tenant'] === 'string' ? body['tenant'] : undefined
    const tenant = named ?? visitor.tenant
    if (named !== undefined && !sees(visitor, named))
      return answerProblem({ status: 403, detail: 'You see your own tenant only.' })
    if (named !== undefined && parts.runtime.store.head(named) === undefined)
      return answerProblem({ status: 404, detail: 'There is no such chain.' })
    return toVerified(await parts.verify(tenant), visitor)
  },
})

function toVerified(
  { ok, records, calls, withoutResult, signed, issue }: Verification,
  to: Visitor,
): Verified {
  return {
    ok,
    records,
    calls,
    ...(withoutResult !== undefined && { withoutResult }),
    ...(signed !== undefined && { signed: { ...signed, keys: [...signed.keys] } }),
    ...(issue !== undefined && {
      issue: {
        ...issue,
        // What stands beside the chains is of all tenants, and so may its words be.
        ...(!sees(to, issue.tenant) && {
          message: 'Something beside the chains is not sound. Who sees all tenants is told what.',
        }),
      },
    }),
  }
}

export const evidenceEndpoints: readonly Endpoint[] = [chains, notes, verify]
