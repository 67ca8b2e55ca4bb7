import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GatewayConfiguration } from '../../../contract/mcp/serving.ts'
import { checkAddress, checkTokens, createFaultFinder } from '../callers/check-callers.ts'
import { openGate, type CallerRules } from '../callers/open-gate.ts'
import { httpModule } from '../web/http-module.ts'
import type { ServedRuntime } from '../session/client-session.ts'
import { createCors } from '../web/cors.ts'
import { createGuard } from '../web/http-guard.ts'
import { isLoopback, listen } from '../web/listen.ts'
import { createEndpoints } from './endpoints.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { refuse, type Refusal } from '../web/send-json.ts'
import { servePage, type PageOptions } from './serve-page.ts'

export interface HttpOptions
  extends ServedRuntime, Pick<PageOptions, 'metrics'>, Omit<GatewayConfiguration, '$schema' | 'port'> {
  /** 0 means any free port. */
  readonly port: number
  /** Receives one line for a person. Default: the standard error output. */
  readonly log?: (line: string) => void
}

/** A running server. */
export interface HttpServer {
  /** Of the MCP endpoint, such as `http://127.0.0.1:7331/mcp`. */
  readonly url: string
  readonly port: number
  /**
   * Other callers may connect from the next request on. Throws a `SetupError` if the server could not know who they are, or a token could
   * not be served; then all stays as it was.
   */
  changeCallers(who: CallerRules): void
  /** Refuses requests, lets running calls end for a while, aborts the rest. */
  close(): Promise<void>
}

/**
 * Serves MCP over Streamable HTTP in both eras at `/mcp`, a status at `/` and `/healthz`, and metrics at `/metrics`. Fails with a
 * `SetupError`: `port_in_use`, or `invalid_options` for an address that cannot be served.
 */
export async function serveHttp(options: HttpOptions): Promise<HttpServer> {
  const { host = '127.0.0.1', closeGraceMs = 3_000, log = (line) => console.error(line) } = options
  const findFault = createFaultFinder(options.runtime)
  checkAddress(options)
  checkTokens(options.tokens ?? [], findFault)
  const requestTimeout = options.requestTimeoutMs ?? 60_000
  const server = httpModule().createServer({ requestTimeout, headersTimeout: 15_000 })
  const port = await listen(server, { host, port: options.port })
  const guard = createGuard({
    port,
    allowedHosts: hostsOf({ ...options, port }),
    allowedOrigins: options.allowedOrigins ?? [],
  })
  const answersPage = createCors(options.allowedOrigins ?? [])
  const gate = openGate(options, { findFault, log })
  const endpoints = createEndpoints(options, log)
  let closing: Promise<void> | undefined

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refused = guard(request)
    if (refused !== undefined) return refuse(response, { status: 403, message: refused })
    if (answersPage(request, response)) return
    const [path = '/'] = (request.url ?? '/').split('?', 1)
    if (path !== '/mcp' && !path.startsWith('/mcp/'))
      return servePage({ path, request, response }, { ...options, gate, isClosing: closing !== undefined })
    const caller = await gate.admit(request, response)
    return caller && endpoints.find(path, caller, response)?.serve({ request, response, caller })
  }

  server.on('error', (error) => log(`http: ${error.message}`))
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', (error) => log(`http: ${error.message}`))
    route(request, response).catch((error: unknown) => {
      if (!request.destroyed || request.complete) refuse(response, toRefusal(error, log))
    })
  })

  async function close(): Promise<void> {
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
    await endpoints.close(closeGraceMs)
    server.closeAllConnections()
    gate.close()
    await stopped
  }
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return {
    url: `http://${name}:${port}/mcp`,
    port,
    changeCallers(who) {
      checkAddress({ host, ...who })
      checkTokens(who.tokens ?? [], findFault)
      gate.changeCallers(who)
      endpoints.retain((caller) => gate.isWelcome(caller))
    },
    close: () => (closing ??= close()),
  }
}

function toRefusal(error: unknown, log: (line: string) => void): Refusal {
  if (error instanceof ToolFailure)
    return { status: 503, message: error.message, data: { reason: error.reason } }
  log(`http: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  const message = 'Handrail failed on this request; its log has the cause.'
  return { status: 500, code: -32603, message }
}

/** The address itself and the host of the resource are names that clients use. */
function hostsOf({ host = '127.0.0.1', port, allowedHosts = [], oauth }: HttpOptions): string[] {
  const own = isLoopback(host) ? [] : [`${host}:${port}`]
  return [...allowedHosts, ...own, ...(oauth === undefined ? [] : [new URL(oauth.resource).host])]
}
