import type { Site } from '../contract/mcp/site.ts'
import { answerApi, type ApiParts, type IdentifyCaller } from './answer-api.ts'
import { onlyGet } from './base/answers.ts'
import type { Assets } from './assets.ts'
import { answerEntry } from './entry/answer-entry.ts'
import { createEventStreams } from './event-streams.ts'

/** What the API and the pages stand on. */
interface Router extends ApiParts {
  readonly assets: Assets
}

export type ConsoleOptions = Omit<Router, 'streams'>

/** Paths of the pages: each is the same document, which shows what its path says. */
const pages =
  /^\/(?:inbox|live|calls|runs|tools|servers|policy|budgets|evidence|overview|access)?(?:\/[^/]*)?$/

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

async function route(
  request: Request,
  identify: IdentifyCaller,
  router: Router,
): Promise<Response | undefined> {
  const { pathname } = new URL(request.url)
  const { visits, login, runtime, serverLogins } = router
  const entered = await answerEntry(request, { visits, login, serverLogins, store: runtime.store })
  if (entered !== undefined) return entered
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
