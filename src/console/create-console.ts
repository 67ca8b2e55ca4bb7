import type { Site, SiteCaller } from '../contract/site.ts'
import type { Issue } from '../contract/base/json.ts'
import type { JsonSchema, SchemaChecker } from '../contract/base/schema.ts'
import { isPlainObject } from '../kit/json/is-plain-object.ts'
import { answerJson, answerProblem } from './answers.ts'
import { approvalEndpoints } from './api/approvals.ts'
import { callEndpoints } from './api/calls.ts'
import { ownEndpoints } from './api/me.ts'
import { runEndpoints } from './api/runs.ts'
import { toolEndpoints } from './api/tools.ts'
import type { Assets } from './assets.ts'
import type { ConsoleParts } from './console-parts.ts'
import type { Endpoint } from './endpoint.ts'
import { visitCookie } from './entry/cookies.ts'
import type { Visits } from './entry/visits.ts'
import { createEventStreams } from './event-streams.ts'
import { describeApi } from './openapi.ts'
import { mayDo, type Visitor } from './roles.ts'

export interface ConsoleOptions extends ConsoleParts {
  readonly visits: Visits
  readonly assets: Assets
  readonly checker: SchemaChecker
}

/** All that the API does. */
export const endpoints: readonly Endpoint[] = [
  ...ownEndpoints,
  ...approvalEndpoints,
  ...callEndpoints,
  ...runEndpoints,
  ...toolEndpoints,
]

/** Paths of the pages: each is the same document, which shows what its path says. */
const pages = /^\/(?:inbox|live|calls|runs|tools)?(?:\/[^/]*)?$/

const security = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

/** The console: its pages, the API behind them at `/api`, and who gets in. */
export function createConsole(options: ConsoleOptions): Site {
  const streams = createEventStreams(options.runtime)
  const router = { ...options, streams }
  return {
    async answer(request, identify) {
      const response = await route(request, identify, router)
      if (response === undefined) return undefined
      for (const [name, value] of Object.entries(security)) response.headers.set(name, value)
      return response
    },
    endStreams: () => streams.end(),
  }
}

type Router = ConsoleOptions & { readonly streams: ReturnType<typeof createEventStreams> }
type IdentifyCaller = () => Promise<SiteCaller | Response>

async function route(
  request: Request,
  identify: IdentifyCaller,
  router: Router,
): Promise<Response | undefined> {
  const { pathname, searchParams } = new URL(request.url)
  if (pathname === '/enter') return enter(request, searchParams.get('link') ?? '', router)
  if (pathname.startsWith('/api/')) return answerApi(request, identify, router)
  const asset = router.assets(pathname)
  if (asset !== undefined) return onlyGet(request) ?? send(asset, 'no-cache')
  const wantsPage = (request.headers.get('accept') ?? '').includes('text/html')
  if (!wantsPage || !pages.test(pathname)) return undefined
  const page = router.assets('/console/index.html')
  return onlyGet(request) ?? (page === undefined ? notBuilt() : send(page, 'no-store'))
}

function send({ bytes, type }: NonNullable<ReturnType<Assets>>, cache: string): Response {
  return new Response(bytes, { headers: { 'content-type': type, 'cache-control': cache } })
}

function notBuilt(): Response {
  return new Response('The pages of the console are not built. Run: npm run build\n', {
    status: 503,
    headers: { 'content-type': 'text/plain; charset=utf-8' },
  })
}

function onlyGet({ method }: Request): Response | undefined {
  if (method === 'GET' || method === 'HEAD') return undefined
  return answerProblem({ status: 405, detail: `The method ${method} is not served here.` })
}

/** The link of a person becomes a visit, once. */
async function enter(request: Request, link: string, { visits }: Router): Promise<Response> {
  const secret = request.method === 'GET' ? await visits.enter(link) : undefined
  const headers = new Headers({
    location: secret === undefined ? '/?link=over' : '/',
    'cache-control': 'no-store',
  })
  if (secret !== undefined) headers.set('set-cookie', visitCookie.set(request, secret))
  return new Response(null, { status: 303, headers })
}

async function answerApi(request: Request, identify: IdentifyCaller, router: Router): Promise<Response> {
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
  if (!mayDo(visitor, endpoint.role))
    return answerProblem({
      status: 403,
      detail: `This takes the role "${endpoint.role}"; "${visitor.actor}" is "${visitor.role}" here.`,
    })
  const body = endpoint.body === undefined ? {} : await readChange(request, visitor, endpoint.body, router)
  if (body instanceof Response) return body
  const answer = await endpoint.run({ visitor, path, query: searchParams, body, parts: router })
  return answer instanceof Response ? answer : answerJson(answer)
}

async function leave(request: Request, visitor: Visitor, { visits }: Router): Promise<Response> {
  const secret = visitCookie.read(request)
  const refused = refuseForged(request, visitor)
  if (refused !== undefined) return refused
  if (secret !== undefined) await visits.end(secret)
  return answerJson({ left: true }, { headers: { 'set-cookie': visitCookie.set(request, undefined) } })
}

/** Who has a cookie of a visit, or a token of the gateway. */
async function findVisitor(
  request: Request,
  identify: IdentifyCaller,
  { visits }: Router,
): Promise<Visitor | Response> {
  if (request.headers.has('authorization')) {
    const caller = await identify()
    if (caller instanceof Response) return caller
    const { actor, tenant, decides } = caller
    const role = decides ? 'approver' : 'viewer'
    return { actor, tenant, role, csrf: undefined, expiresAt: Infinity }
  }
  const secret = visitCookie.read(request)
  const visitor = secret === undefined ? undefined : visits.find(secret)
  return (
    visitor ??
    answerProblem({
      status: 401,
      detail: 'Log in: open the link that "handrail console" prints.',
      code: 'not_logged_in',
    })
  )
}

function findEndpoint(
  method: string,
  pathname: string,
): { endpoint: Endpoint; path: { [name: string]: string } } | Response {
  const fitting = endpoints.flatMap((endpoint) => {
    const path = matchPath(endpoint.path, pathname)
    return path === undefined ? [] : [{ endpoint, path }]
  })
  const found = fitting.find(({ endpoint }) => endpoint.method === method)
  if (found !== undefined) return found
  if (fitting.length === 0)
    return answerProblem({
      status: 404,
      detail: 'The API has nothing here; /api/openapi.json says what it has.',
    })
  const allow = fitting.map(({ endpoint }) => endpoint.method).join(', ')
  const refused = answerProblem({ status: 405, detail: `The method ${method} is not served here.` })
  refused.headers.set('allow', allow)
  return refused
}

/** The parts that a path in braces names, decoded; undefined if it is another path. */
function matchPath(pattern: string, pathname: string): { [name: string]: string } | undefined {
  const [wanted, given] = [pattern.split('/'), pathname.split('/')]
  if (wanted.length !== given.length) return undefined
  const found: { [name: string]: string } = {}
  for (const [index, part] of wanted.entries()) {
    const text = given[index] ?? ''
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    if (name === undefined && part !== text) return undefined
    if (name !== undefined) found[name] = decode(text)
  }
  return found
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const maxBodyChars = 65_536

/** The body of a change, by whoever may make it: a page of another origin cannot send it. */
async function readChange(
  request: Request,
  visitor: Visitor,
  schema: JsonSchema,
  { checker }: Router,
): Promise<{ readonly [name: string]: unknown } | Response> {
  const refused = refuseForged(request, visitor)
  if (refused !== undefined) return refused
  if (!/^application\/json *(;|$)/i.test(request.headers.get('content-type') ?? ''))
    return answerProblem({ status: 415, detail: 'Send the body as application/json.' })
  const text = await request.text()
  if (text.length > maxBodyChars)
    return answerProblem({ status: 413, detail: `A body has at most ${maxBodyChars} characters.` })
  const body = parse(text)
  if (!isPlainObject(body)) return answerProblem({ status: 400, detail: 'The body is a JSON object.' })
  const checked = checker.check(schema, body)
  if (!checked.ok)
    return answerProblem({ status: 400, detail: describe(checked.issues), issues: checked.issues })
  return body
}

function describe(issues: readonly Issue[]): string {
  return issues.map(({ pointer, message }) => `${pointer}: ${message}`).join(' ')
}

/** A browser sends cookies along whatever page asks, so that a change shows a token that only a page of the console can read. */
function refuseForged(request: Request, { csrf }: Visitor): Response | undefined {
  const site = request.headers.get('sec-fetch-site')
  const origin = request.headers.get('origin')
  const isForeign =
    (site !== null && site !== 'same-origin' && site !== 'none') ||
    (origin !== null && !isOf(origin, new URL(request.url).host))
  if (csrf === undefined || (!isForeign && request.headers.get('x-csrf-token') === csrf)) return undefined
  return answerProblem({
    status: 403,
    detail: 'The X-CSRF-Token is not that of your visit. Load the page anew.',
    code: 'forged',
  })
}

/** A proxy in front may speak TLS, so that only the host has to be the same. */
function isOf(origin: string, host: string): boolean {
  return URL.canParse(origin) && new URL(origin).host === host
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
