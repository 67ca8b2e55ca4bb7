import type { IncomingMessage, ServerResponse } from 'node:http'

/** What a page needs to read beside the body: its session, and why it was refused. */
const exposed = 'mcp-session-id, mcp-protocol-version, retry-after, www-authenticate'
/** How long a browser may go without asking again, in seconds. */
const maxAge = '600'

/**
 * Lets pages of these origins use a server: tells their browsers so, and answers what these ask before a request (Fetch, CORS protocol).
 * Returns whether the request was such a question. A page of another origin gets no word of it, one on loopback neither.
 */
export function createCors(allowedOrigins: readonly string[]) {
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()))
  return ({ method, headers }: IncomingMessage, response: ServerResponse): boolean => {
    const { origin } = headers
    if (origin === undefined || !origins.has(origin.toLowerCase())) return false
    response.setHeader('access-control-allow-origin', origin)
    response.setHeader('access-control-expose-headers', exposed)
    response.setHeader('vary', 'origin')
    if (method !== 'OPTIONS' || headers['access-control-request-method'] === undefined) return false
    const wanted = headers['access-control-request-headers']
    if (wanted !== undefined) response.setHeader('access-control-allow-headers', wanted)
    if (headers['access-control-request-private-network'] === 'true')
      response.setHeader('access-control-allow-private-network', 'true')
    response.setHeader('access-control-allow-methods', 'GET, POST, DELETE')
    response.setHeader('access-control-max-age', maxAge)
    response.writeHead(204).end()
    return true
  }
}
