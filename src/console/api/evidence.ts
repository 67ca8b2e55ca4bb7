import type { Verification } from '../../contract/evidence.ts'
import { findNotes, type ListedNote } from '../../evidence/find-notes.ts'
import { answerProblem } from '../base/answers.ts'
import { writeCursor } from '../base/cursor.ts'
import { endpoint, type Endpoint } from '../base/endpoint.ts'
import { mostRows, readPage, readTenant } from '../base/read-query.ts'
import { sees, tenantsOf, type Visitor } from '../base/roles.ts'
import { chainRow, noteRow, verification, type NoteRow, type Verified } from './evidence-rows.ts'

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
    limit: `At most so many, up to ${mostRows}. Default: 50.`,
    before: 'The `next` of the page before.',
    event: 'Only those of this event.',
    actor: 'Only what this actor did.',
    tool: 'A pattern of names of tools.',
    session: 'Only of this session.',
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
    const page = readPage(query, 50)
    if (page instanceof Response) return page
    const tenants = tenantsOf(visitor, runtime.store.tenants())
    const named = ['event', 'actor', 'tool', 'session'].flatMap((name) => {
      const value = query.get(name)
      return value === null || value === '' ? [] : [[name, value]]
    })
    const found = findNotes(runtime.store, { tenants, ...page, ...Object.fromEntries(named) })
    return {
      notes: found.map(toNoteRow),
      ...(found.length === page.limit && { next: writeCursor(found, page.before) }),
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
    const seen = named && readTenant(visitor, named)
    if (seen instanceof Response) return seen
    if (named !== undefined && parts.runtime.store.head(named) === undefined)
      return answerProblem({ status: 404, detail: 'There is no such chain.' })
    return toVerified(await parts.verifier.verify(named ?? visitor.tenant), visitor)
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

const progress = endpoint({
  method: 'GET',
  path: '/api/evidence/progress',
  summary: 'How far the verification that runs has come, of what you see.',
  role: 'viewer',
  answer: {
    type: 'object',
    properties: {
      records: { type: 'integer', description: 'Held against their chain by now. Absent if none runs.' },
      of: { type: 'integer' },
    },
  },
  run({ visitor, parts: { runtime, verifier } }) {
    const found = verifier.progress()
    if (found === undefined || (visitor.tenant !== undefined && found.tenant !== visitor.tenant)) return {}
    const tenants = found.tenant === undefined ? runtime.store.tenants() : [found.tenant]
    const of = tenants.reduce((sum, tenant) => sum + (runtime.store.head(tenant)?.sequence ?? 0), 0)
    return { records: found.records, of }
  },
})

export const evidenceEndpoints: readonly Endpoint[] = [chains, notes, verify, progress]
