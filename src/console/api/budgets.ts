import type { Consent } from '../../contract/consent.ts'
import type { AvailableTool, Runtime } from '../../contract/runtime.ts'
import { toCallingActor } from '../../kit/names/calling-actor.ts'
import { answerProblem } from '../base/answers.ts'
import { endpoint, type Endpoint, type Question } from '../base/endpoint.ts'
import { refusingSetup } from '../base/refusing-setup.ts'
import { ofTenant } from '../base/read-query.ts'
import { sees } from '../base/roles.ts'
import { budgetRow, consentRow, type BudgetRow, type ConsentRow } from './budget-rows.ts'

const consents = endpoint({
  method: 'GET',
  path: '/api/consents',
  summary: 'The standing consents, those that hold no more too: the newest first.',
  role: 'viewer',
  reach: 'each',
  answer: {
    type: 'object',
    properties: { consents: { type: 'array', items: consentRow } },
    required: ['consents'],
  },
  run({ visitor, parts: { runtime } }) {
    const found = runtime.consents.list().filter(({ tenant }) => sees(visitor, tenant))
    const sorted = found.toSorted((one, other) => other.givenAt - one.givenAt)
    return { consents: sorted.map((consent) => toConsentRow(consent, runtime)) }
  },
})

const revoke = endpoint({
  method: 'POST',
  path: '/api/consents/{id}/revoke',
  summary: 'Takes a consent back, from the next call on, in every process. The evidence says who did it.',
  role: 'operator',
  reach(question) {
    const known = findConsent(question)
    return known === undefined ? noConsent() : [known.tenant]
  },
  body: { type: 'object', properties: {}, additionalProperties: false },
  answer: { type: 'object', properties: { consent: consentRow }, required: ['consent'] },
  async run(asked) {
    const { visitor, parts } = asked
    const { runtime } = parts
    const known = findConsent(asked)
    const revoked = known && (await runtime.consents.revoke(known.tenant, known.id, visitor.actor))
    if (revoked === undefined) return noConsent()
    return { consent: toConsentRow(revoked, runtime) }
  },
})

function findConsent({ visitor, path, parts }: Question): Consent | undefined {
  const all = parts.runtime.consents.list()
  return all.find(({ id, tenant }) => id === path['id'] && sees(visitor, tenant))
}

function noConsent(): Response {
  return answerProblem({ status: 404, detail: 'There is no such consent.' })
}

function toConsentRow(consent: Consent, { registry }: Pick<Runtime, 'registry'>): ConsentRow {
  const { id, tenant, actor, tool, scope, givenAt, expiresAt, givenBy, reason, revokedAt } = consent
  return {
    id,
    tenant,
    actor,
    tool,
    scope,
    givenAt,
    expiresAt,
    givenBy,
    ...(reason !== undefined && { reason }),
    ...(revokedAt !== undefined && { revokedAt }),
    state: stateOf(consent, registry.identityOf(tool, tenant)),
  }
}

function stateOf({ revokedAt, expiresAt, givenAt, identity }: Consent, current: string | undefined): string {
  const now = Date.now()
  if (revokedAt !== undefined) return 'revoked'
  if (expiresAt <= now) return 'expired'
  if (identity !== current) return 'outdated'
  return givenAt > now ? 'later' : 'holds'
}

const budgets = endpoint({
  method: 'GET',
  path: '/api/budgets',
  summary: 'The budgets that count calls of an actor, and what is left of each. Asking spends nothing.',
  role: 'viewer',
  reach: ofTenant,
  query: { tenant: 'Default: "local", or your own.', actor: 'Default: you.' },
  answer: {
    type: 'object',
    properties: {
      tenant: { type: 'string' },
      actor: { type: 'string' },
      budgets: { type: 'array', items: budgetRow },
    },
    required: ['tenant', 'actor', 'budgets'],
  },
  async run({ visitor, query, tenants: [tenant = ''], parts: { runtime } }) {
    const actor = query.get('actor') ?? toCallingActor(visitor.actor)
    const session = await refusingSetup(() => runtime.session({ tenant, actor }), 404)
    if (session instanceof Response) return session
    try {
      return { tenant, actor, budgets: toBudgetRows((await session.available()).tools) }
    } finally {
      await session.close()
    }
  },
})

/** Each budget once for all tools that it stands the same for. */
function toBudgetRows(tools: readonly AvailableTool[]): BudgetRow[] {
  const rows = new Map<string, BudgetRow & { tools: string[] }>()
  for (const { tool, budgets: counting } of tools)
    for (const { id, unit, limit, spent, reserved, endsAt } of counting) {
      const key = JSON.stringify([id, spent, reserved, endsAt])
      const left = Math.max(0, limit - spent - reserved)
      const row = rows.get(key) ?? {
        id,
        unit,
        limit,
        spent,
        reserved,
        left,
        ...(endsAt !== undefined && { endsAt }),
        tools: [],
      }
      row.tools.push(tool)
      rows.set(key, row)
    }
  return [...rows.values()]
}

export const budgetEndpoints: readonly Endpoint[] = [consents, revoke, budgets]
