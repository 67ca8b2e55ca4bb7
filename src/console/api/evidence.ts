import type { Verification } from '../../contract/evidence.ts'
import { findNotePage, type ListedNote } from '../../evidence/find-notes.ts'
import { answerProblem } from '../base/answers.ts'
import { toCursorText } from '../base/cursor.ts'
import { endpoint, type Asked, type Endpoint } from '../base/endpoint.ts'
import { mostRows, placeQuery, readPart } from '../base/read-query.ts'
import { everyTenant } from '../../contract/mcp/console-login.ts'
import { mayDo, sees, type Visitor } from '../base/roles.ts'
import { notSeen } from '../base/find-reach.ts'
import { chainRow, noteRow, verification, type NoteRow, type Verified } from './evidence-rows.ts'

const chains = endpoint({
  method: 'GET',
  path: '/api/evidence',
  summary: 'The chains of evidence: how long each is, and its last hash.',
  role: 'viewer',
  reach: 'each',
  answer: {
    type: 'object',
    properties: {
      chains: { type: 'array', items: chainRow },
      readOnly: { type: 'string', description: 'Why the store takes no records. Absent if it does.' },
    },
    required: ['chains'],
  },
  run({ tenants, parts: { runtime } }) {
    const { store } = runtime
    const found = tenants.flatMap((tenant) => {
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
  reach: 'each',
  query: {
    limit: `At most so many, up to ${mostRows}. Default: 50.`,
    before: 'The `next` of the page before.',
    event: 'Only those of this event.',
    actor: 'Only what this actor did.',
    tool: 'A pattern of names of tools.',
    session: 'Only of this session.',
    ...placeQuery,
  },
  answer: {
    type: 'object',
    properties: {
      notes: { type: 'array', items: noteRow },
      next: {
        type: 'string',
        description:
          'Of the page after this one, which may be there even if this one has few notes or none: no page takes long. Absent if there is none.',
      },
    },
    required: ['notes'],
  },
  run(asked) {
    const { query, parts } = asked
    const part = readPart(asked, 50)
    if (part instanceof Response) return part
    const named = ['event', 'actor', 'tool', 'session'].flatMap((name) => {
      const value = query.get(name)
      return value === null || value === '' ? [] : [[name, value]]
    })
    const found = findNotePage(parts.runtime.store, { ...part, ...Object.fromEntries(named) })
    const { notes, next } = found
    return { notes: notes.map(toNoteRow), ...(next !== undefined && { next: toCursorText(next) }) }
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
  reach({ visitor, body, parts }) {
    const named = namedTenant(body)
    if (named === undefined) return tenantsToVerify(visitor)
    if (!sees(visitor, named)) return answerProblem({ status: 403, detail: notSeen })
    if (parts.runtime.store.head(named) !== undefined) return [named]
    return answerProblem({ status: 404, detail: 'There is no such chain.' })
  },
  body: {
    type: 'object',
    properties: { tenant: { type: 'string', description: 'Of this tenant alone.' } },
    additionalProperties: false,
  },
  answer: verification,
  run: verifyAll,
})

function namedTenant(body: Asked['body']): string | undefined {
  return typeof body['tenant'] === 'string' ? body['tenant'] : undefined
}

function tenantsToVerify(visitor: Visitor): readonly string[] {
  return mayDo(visitor, 'viewer', everyTenant) ? [everyTenant] : [...visitor.roles.keys()]
}

/** One chain after the other, up to the first that is not sound. */
async function verifyAll({ visitor, tenants, parts }: Asked): Promise<Verified> {
  const found: Verified[] = []
  for (const tenant of tenants) {
    const verified = await parts.verifier.verify(tenant === everyTenant ? undefined : tenant)
    found.push(toVerified(verified, visitor))
    if (!verified.ok) break
  }
  return found.reduce(together)
}

function together(one: Verified, other: Verified): Verified {
  const add = (first: number | undefined, second: number | undefined): number => (first ?? 0) + (second ?? 0)
  const signed = one.signed ?? other.signed
  return {
    ok: one.ok && other.ok,
    records: one.records + other.records,
    calls: one.calls + other.calls,
    withoutResult: add(one.withoutResult, other.withoutResult),
    ...(signed !== undefined && {
      signed: {
        records: add(one.signed?.records, other.signed?.records),
        pending: add(one.signed?.pending, other.signed?.pending),
        keys: [...new Set([...(one.signed?.keys ?? []), ...(other.signed?.keys ?? [])])],
      },
    }),
    ...(other.issue !== undefined && { issue: other.issue }),
  }
}

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
  reach: 'each',
  answer: {
    type: 'object',
    properties: {
      records: { type: 'integer', description: 'Held against their chain by now. Absent if none runs.' },
      of: { type: 'integer' },
    },
  },
  run({ visitor, tenants: seen, parts: { runtime, verifier } }) {
    const found = verifier.progress()
    const isSeen =
      mayDo(visitor, 'viewer', everyTenant) || (found?.tenant !== undefined && seen.includes(found.tenant))
    if (found === undefined || !isSeen) return {}
    const tenants = found.tenant === undefined ? runtime.store.tenants() : [found.tenant]
    const of = tenants.reduce((sum, tenant) => sum + (runtime.store.head(tenant)?.sequence ?? 0), 0)
    return { records: found.records, of }
  },
})

export const evidenceEndpoints: readonly Endpoint[] = [chains, notes, verify, progress]
