import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { ServedRuntime } from './client-session.ts'
import { createGuard } from './http-guard.ts'
import { listen } from './listen.ts'
import { createMcpEndpoint } from './mcp-endpoint.ts'
import { packageVersion } from './package-version.ts'
import { refuse, sendJson, sendText } from './send-json.ts'

export interface HttpOptions extends ServedRuntime {
  /** 0 takes any free port. */
  readonly port: number
  /** A loopback address: this server knows no log-in. Default `127.0.0.1`. */
  readonly host?: string
  /** Further values of the Host header, such as that of a proxy. Default none. */
  readonly allowedHosts?: readonly string[]
  /** Further values of the Origin header, beside loopback ones. Default none. */
  readonly allowedOrigins?: readonly string[]
  /** Sessions of clients to revision 2025-11-25 at a time. Default 100. */
  readonly maxSessions?: number
  /** Such a session ends when nothing happened for so long, in milliseconds. Default 1,800,000. */
  readonly sessionIdleMs?: number
  /** How long running calls may take to end when the server closes, in milliseconds. Default 3,000. */
  readonly closeGraceMs?: number
  /** What `/metrics` shows. Default: there is no `/metrics`. */
  readonly metrics?: { readonly contentType: string; text(): string }
  /** Takes one line for a person. Default: the standard error output. */
  readonly log?: (line: string) => void
}

/** A running server. */
export interface HttpServer {
  /** Of the MCP endpoint, such as `http://127.0.0.1:7331/mcp`. */
  readonly url: string
  readonly port: number
  /** Takes no more requests, lets running calls end for a while, aborts the rest. */
  close(): Promise<void>
}

/**
 * Serves MCP over Streamable HTTP in both eras at `/mcp`, a status at `/` and `/healthz`, and metrics at `/metrics`. Fails with a
 * `SetupError`: `port_in_use`, or `invalid_options` for an address that cannot be served.
 */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const { host = '127.0.0.1', allowedHosts = [], allowedOrigins = [], closeGraceMs = 3_000 } = options
  const { maxSessions = 100, sessionIdleMs = 1_800_000, log = (line) => console.error(line) } = options
  const server = createServer()
  const port = await listen(server, { host, port: options.port })
  const guard = createGuard({ port, allowedHosts, allowedOrigins })
  const endpoint = createMcpEndpoint({ served: options, maxSessions, idleMs: sessionIdleMs, log })
  let closing: Promise<void> | undefined

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refused = guard(request)
    if (refused !== undefined) return refuse(response, { status: 403, message: refused })
    const path = (request.url ?? '/').split('?', 1)[0]
    if (path === '/mcp') return endpoint.serve(request, response)
    const metrics = path === '/metrics' ? options.metrics : undefined
    if (path !== '/' && path !== '/healthz' && metrics === undefined)
      return sendJson(response, { error: 'There is nothing here; MCP is at /mcp.' }, { status: 404 })
    if (request.method !== 'GET')
      return sendJson(
        response,
        { error: 'Only GET is answered here.' },
        { status: 405, headers: { allow: 'GET' } },
      )
    if (metrics !== undefined) return sendText(response, metrics.text(), metrics.contentType)
    const status = closing === undefined ? 'ok' : 'closing'
    if (path === '/healthz') return sendJson(response, { status })
    sendJson(response, { name: 'handrail', version: packageVersion(), status, mcp: '/mcp' })
  }

  server.on('error', (error) => log(`http: ${error.message}`))
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', (error) => log(`http: ${error.message}`))
    route(request, response).catch((error: unknown) => {
      if (request.destroyed && !request.complete) return
      log(`http: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
      const message = 'Handrail failed on this request; its log has the cause.'
      refuse(response, { status: 500, code: -32603, message })
    })
  })

  async function close(): Promise<void> {
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
    await endpoint.close(closeGraceMs)
    server.closeAllConnections()
    await stopped
  }
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return { url: `http://${name}:${port}/mcp`, port, close: () => (closing ??= close()) }
}
