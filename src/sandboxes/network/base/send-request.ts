import type { WebRequest, WebResponse } from '../../../contract/services/network.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { PermitHost } from '../../../contract/services/sandbox.ts'
import type { HostLookup } from './network-entry.ts'
import { normaliseMethod } from '../../../kit/normalise-method.ts'
import { openConnection } from './open-connection.ts'
import { ordinaryHeaders } from './ordinary-headers.ts'
import { readBody } from './read-body.ts'
import { readUrl, type Target, type UrlBounds } from './read-url.ts'
import { resolveHost } from './resolve-host.ts'
import { toHeaders } from './to-headers.ts'

/** Most redirects that are followed. */
const maxRedirects = 5
const redirecting: readonly number[] = [301, 302, 303, 307, 308]

/** What a request is made under. */
export interface Passport extends UrlBounds {
  readonly lookup: HostLookup
  readonly permit: PermitHost
  readonly signal: AbortSignal
}

/** Sends a request and follows where it is redirected, each hop judged as the first: by its URL, `permit`, and every address. */
export async function sendRequest(request: WebRequest, passport: Passport): Promise<WebResponse> {
  const redirects: string[] = []
  const first = readUrl(request.url, passport)
  let target = first
  for (;;) {
    await passport.permit({ host: target.host, url: target.url.href })
    const own = target.url.origin === first.url.origin
    const answer = await askOnce(target, { request, passport, own })
    if ('body' in answer) return { ...answer.body, url: target.url.href, redirects }
    redirects.push(target.url.href)
    if (redirects.length > maxRedirects) throw tooMany(first.url.href)
    target = readUrl(answer.location, passport, target.url.href)
  }
}

type Answer = { location: string } | { body: Omit<WebResponse, 'url' | 'redirects'> }

async function askOnce(
  target: Target,
  { request, passport, own }: { request: WebRequest; passport: Passport; own: boolean },
): Promise<Answer> {
  const { body: sent } = request
  const method = normaliseMethod(request.method ?? 'GET')
  const addresses = await resolveHost(target, passport)
  const connection = openConnection(target, addresses)
  try {
    const { statusCode, headers, body } = await connection.request({
      path: target.url.pathname + target.url.search,
      method,
      headers: { ...ordinaryHeaders, ...(own && request.headers) },
      signal: passport.signal,
      ...(sent !== undefined && { body: sent }),
    })
    const known = toHeaders(headers)
    const location = known['location']
    if (method === 'GET' && location !== undefined && redirecting.includes(statusCode)) {
      body.on('error', () => {}).destroy()
      return { location }
    }
    const encoding = known['content-encoding'] ?? ''
    const read = await readBody(body, { encoding, maxBytes: request.maxBytes })
    return { body: { status: statusCode, headers: known, ...read } }
  } finally {
    await connection.destroy()
  }
}

function tooMany(url: string): ToolFailure {
  return new ToolFailure({
    reason: 'too_many_redirects',
    message: `"${url}" redirects more than ${maxRedirects} times. Give the URL that it should lead to.`,
  })
}
