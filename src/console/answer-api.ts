import type { SiteCaller } from '../contract/mcp/site.ts'
import type { SchemaChecker } from '../contract/base/schema.ts'
import { answerJson, answerProblem, onlyGet } from './base/answers.ts'
import type { ConsoleParts } from './base/console-parts.ts'
import type { Login } from './entry/open-login.ts'
import { visitCookie } from './entry/cookies.ts'
import { refuseForged } from './entry/refuse-forged.ts'
import type { Visits } from './entry/visits.ts'
import type { EventStreams } from './event-streams.ts'
import { endpoints, findEndpoint } from './find-endpoint.ts'
import { describeApi } from './base/openapi.ts'
import { readChange } from './base/read-change.ts'
import { findReach } from './base/find-reach.ts'
import { everyTenant } from '../contract/mcp/console-login.ts'
import { type Visitor } from './base/roles.ts'

/** What the API stands on. */
export interface ApiParts extends ConsoleParts {
  readonly visits: Visits
  /** Where persons log in, as it is configured now; undefined if nowhere. */
  readonly login: () => Login | undefined
  readonly checker: SchemaChecker
  readonly streams: EventStreams
}

/** Finds the caller of a request with a token, or answers why there is none. */
export type IdentifyCaller = () => Promise<SiteCaller | Response>

/** Answers a request to `/api`. */
export async function answerApi(
  request: Request,
  identify: IdentifyCaller,
  router: ApiParts,
): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url)
  if (pathname === '/api/openapi.json') return answerJson(describeApi(endpoints, router.version))
  const visitor = await findVisitor(request, identify, router)
  if (visitor instanceof Response) return visitor
  if (pathname === '/api/events')
    return onlyGet(request) ?? router.streams.open(visitor, request.headers.get('last-event-id'))
  if (pathname === '/api/leave' && request.method === 'POST') return leave(request, visitor, router)
  const found = findEndpoint(request.method, pathname)
  if (found instanceof Response) return found
  const { endpoint, path } = found
  const { body: schema } = endpoint
  const forged = schema === undefined ? undefined : refuseForged(request, visitor)
  if (forged !== undefined) return forged
  const body = schema === undefined ? {} : await readChange(request, endpoint, router.checker)
  if (body instanceof Response) return body
  const question = {
    visitor,
    path,
    query: searchParams,
    body,
    origin: originOf(request, router),
    parts: router,
  }
  const tenants = findReach(endpoint, question)
  if (tenants instanceof Response) return tenants
  const answer = await endpoint.run({ ...question, tenants })
  return answer instanceof Response ? answer : answerJson(answer)
}

/** A proxy that speaks TLS may stand between: the configuration says so. */
function originOf(request: Request, { gateway }: ApiParts): string {
  const here = new URL(request.url)
  const known = gateway().console?.url
  return known !== undefined && new URL(known).host === here.host ? new URL(known).origin : here.origin
}

async function leave(request: Request, visitor: Visitor, { visits }: ApiParts): Promise<Response> {
  const secret = visitCookie.read(request)
  const refused = refuseForged(request, visitor)
  if (refused !== undefined) return refused
  const visit = secret === undefined ? undefined : visits.find(secret)
  if (visit !== undefined) await visits.end(visit, visit.actor)
  return answerJson({ left: true }, { headers: { 'set-cookie': visitCookie.set(request, undefined) } })
}

/** Who has a cookie of a visit, or a token of the gateway. */
async function findVisitor(
  request: Request,
  identify: IdentifyCaller,
  { visits, login }: ApiParts,
): Promise<Visitor | Response> {
  if (request.headers.has('authorization')) {
    const caller = await identify()
    if (caller instanceof Response) return caller
    const { actor, tenant, decides } = caller
    if (decides)
      return {
        actor,
        name: actor,
        roles: new Map([[tenant ?? everyTenant, 'approver']]),
        visit: undefined,
        csrf: undefined,
        expiresAt: Infinity,
        stands: () => true,
      }
    return answerProblem({
      status: 403,
      detail:
        'This token calls tools, and sees no calls of others. Give it "approver": true in gateway.json.',
    })
  }
  const secret = visitCookie.read(request)
  const visitor = secret === undefined ? undefined : visits.find(secret)
  const offered = login()
  return (
    visitor ??
    answerProblem({
      status: 401,
      detail: 'Log in: open the link that "handrail console" prints.',
      code: 'not_logged_in',
      ...(offered !== undefined && {
        login: { name: offered.name, path: '/enter/login', logOut: '/enter/log-out' },
      }),
    })
  )
}
