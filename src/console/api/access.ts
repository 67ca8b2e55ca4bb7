import { everyTenant } from '../../contract/mcp/console-login.ts'
import type { GatewayConfiguration } from '../../contract/mcp/serving.ts'
import type { Policy } from '../../contract/policy.ts'
import { matchPattern } from '../../kit/match/match-pattern.ts'
import { answerProblem } from '../base/answers.ts'
import { endpoint, type Asked, type Endpoint, type Question } from '../base/endpoint.ts'
import { mayDo, sees, type Visitor } from '../base/roles.ts'
import type { Visit } from '../base/visit.ts'
import { access, type Access } from './access-row.ts'

const show = endpoint({
  method: 'GET',
  path: '/api/access',
  summary:
    'Who may connect, get into the console, and decide, of the tenants that you see. No secret is among it.',
  role: 'viewer',
  reach: 'each',
  answer: access,
  run(asked) {
    const { visitor, parts } = asked
    const gateway = parts.gateway()
    const policy = parts.policy.inForce()
    return {
      tenants: findTenants(asked, gateway, policy),
      isOpen: gateway.tokens === undefined && gateway.oauth === undefined,
      callers: toCallers(gateway, visitor),
      ...toOAuth(gateway, visitor),
      ...toLogin(gateway, visitor),
      deciders: toDeciders(policy, asked),
      webhooks: toWebhooks(gateway, asked),
      visits: seenVisits(asked).map((visit) => toVisitRow(visit, visitor)),
    }
  },
})

const end = endpoint({
  method: 'POST',
  path: '/api/visits/{visit}/end',
  summary: 'Ends the visit of a person to the console, at once. The evidence says who did it.',
  role: 'admin',
  reach(question) {
    const found = findVisit(question)
    return found instanceof Response ? found : [...found.roles.keys()]
  },
  body: { type: 'object', properties: {}, additionalProperties: false },
  answer: { type: 'object', properties: { ended: { type: 'string' } }, required: ['ended'] },
  async run(asked) {
    const found = findVisit(asked)
    if (found instanceof Response) return found
    await asked.parts.visits.end(found, asked.visitor.actor)
    return { ended: found.visit }
  },
})

/** What a person has in tenants that another one does not see is not shown to them. */
function rolesSeen({ roles }: Pick<Visit, 'roles'>, by: Visitor): { tenant: string; role: string }[] {
  return [...roles].flatMap(([tenant, role]) => (sees(by, tenant) ? [{ tenant, role }] : []))
}

function seenVisits({ visitor, parts }: Question): Visit[] {
  return parts.visits.list().filter((visit) => rolesSeen(visit, visitor).length > 0)
}

function findVisit(question: Question): Visit | Response {
  const found = seenVisits(question).find(({ visit }) => visit === question.path['visit'])
  return found ?? answerProblem({ status: 404, detail: 'There is no such visit: it is over, or never was.' })
}

function toVisitRow(visit: Visit, by: Visitor): Access['visits'][number] {
  return {
    visit: visit.visit,
    actor: visit.actor,
    name: visit.name,
    roles: rolesSeen(visit, by),
    since: visit.since,
    until: visit.expiresAt,
    isOwn: visit.visit === by.visit,
    mayEnd: [...visit.roles.keys()].every((tenant) => mayDo(by, 'admin', tenant)),
  }
}

function findTenants(
  { visitor, tenants }: Asked,
  { tokens = [] }: GatewayConfiguration,
  policy: Policy,
): string[] {
  const named = [
    ...Object.keys(policy.tenants ?? {}),
    ...tokens.map(({ tenant = 'local' }) => tenant),
    'local',
  ]
  const all = new Set([...named.filter((tenant) => sees(visitor, tenant)), ...tenants])
  // What concerns all tenants is of none.
  all.delete('')
  return [...all].toSorted()
}

function toCallers({ tokens = [] }: GatewayConfiguration, visitor: Visitor): Access['callers'] {
  const own = tokens.filter(({ tenant = 'local' }) => sees(visitor, tenant))
  return own.map(({ id, actor, tenant = 'local', approver = false, expiresAt }) => {
    const until = expiresAt === undefined ? undefined : Date.parse(expiresAt)
    return {
      id,
      actor,
      tenant,
      approver,
      state: until !== undefined && until <= Date.now() ? 'expired' : 'holds',
      ...(until !== undefined && { expiresAt: until }),
    }
  })
}

function toOAuth({ oauth }: GatewayConfiguration, visitor: Visitor): Pick<Access, 'oauth'> {
  if (oauth === undefined) return {}
  const { issuer, resource, tenant = 'local', tenantClaim, approverScopes } = oauth
  if (!sees(visitor, tenantClaim === undefined ? tenant : everyTenant)) return {}
  return {
    oauth: {
      issuer,
      resource,
      ...(tenantClaim === undefined ? { tenant } : { tenantClaim }),
      ...(approverScopes !== undefined && { approverScopes: [...approverScopes] }),
    },
  }
}

function toLogin({ console: served }: GatewayConfiguration, visitor: Visitor): Pick<Access, 'login'> {
  if (served === undefined) return {}
  const { url, login } = served
  const rules = login.rules.flatMap(({ claim, value, role, tenants }) => {
    const own = tenants.filter((tenant) => sees(visitor, tenant))
    return own.length === 0 ? [] : [{ claim, value, role, tenants: own }]
  })
  return { login: { issuer: login.issuer, url, rules } }
}

function toDeciders({ approvers = [] }: Policy, asked: Asked): Access['deciders'] {
  const own = approvers.filter(({ tenants }) => reaches(tenants, asked))
  return own.map(({ tenants, tools, approvers: who, needed = 1 }) => ({
    needed,
    ...(tenants !== undefined && { tenants: shownPatterns(tenants, asked) }),
    ...(tools !== undefined && { tools: [...tools] }),
    ...(who !== undefined && { approvers: [...who] }),
  }))
}

function toWebhooks({ webhooks = [] }: GatewayConfiguration, asked: Asked): Access['webhooks'] {
  const own = webhooks.filter(({ tenants }) => reaches(tenants, asked))
  return own.map(({ url, tenants, events = [] }) => ({
    host: new URL(url).host,
    events: [...events],
    ...(tenants !== undefined && { tenants: shownPatterns(tenants, asked) }),
  }))
}

/** Whether patterns of tenants are about one that is seen. */
function reaches(patterns: readonly string[] | undefined, { visitor, tenants }: Asked): boolean {
  if (patterns === undefined || sees(visitor, everyTenant)) return true
  return patterns.some((pattern) => tenants.some((tenant) => matchPattern(pattern, tenant)))
}

function shownPatterns(patterns: readonly string[], asked: Asked): string[] {
  return patterns.filter((pattern) => reaches([pattern], asked))
}

export const accessEndpoints: readonly Endpoint[] = [show, end]
