import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Endpoint } from '../../../contract/a2a/endpoint.ts'
import type { GatewayConfiguration } from '../../../contract/mcp/serving.ts'
import type { Site } from '../../../contract/mcp/site.ts'
import { checkAddress, checkTokens, createFaultFinder } from '../callers/check-callers.ts'
import { openGate, type CallerRules } from '../callers/open-gate.ts'
import { httpModule } from '../web/http-module.ts'
import type { ServedRuntime } from '../session/client-session.ts'
import { createApprovalsEndpoint, isApprovalsPath } from '../approvals/approvals-endpoint.ts'
import { createCors } from '../web/cors.ts'
import { createGuard } from '../web/http-guard.ts'
import { isLoopback, listen } from '../web/listen.ts'
import { answerRequests } from './answer-requests.ts'
import { createEndpoints } from './endpoints.ts'
import { refuse, refuseAsProblem } from '../web/send-json.ts'
import { answerBeside } from './answer-beside.ts'
import type { PageOptions } from './serve-page.ts'

export interface HttpOptions
  extends
    ServedRuntime,
    Pick<PageOptions, 'metrics'>,
    Omit<GatewayConfiguration, '$schema' | 'port' | 'webhooks' | 'a2a'> {
  /** 0 means any free port. */
  readonly port: number
  /** What else is served beside MCP, such as the console. Default: nothing. */
  readonly site?: Site
  /** Opens what answers paths beside MCP, such as those of A2A; it is told where the server listens. Default: nothing does. */
  readonly openEndpoint?: (address: { origin: string }) => Endpoint
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
 * Serves MCP over Streamable HTTP in both eras at `/mcp`, a status at `/` and `/healthz`, and metrics at `/metrics`, and approvals at `/approvals`. Fails with a
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
    allowedOrigins: [...(options.allowedOrigins ?? []), ...consoleOrigin(options)],
  })
  const answersPage = createCors(options.allowedOrigins ?? [])
  const gate = openGate(options, { findFault, log })
  const endpoints = createEndpoints(options, log)
  const approvals = createApprovalsEndpoint(options.runtime)
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  const origin = `http://${name}:${port}`
  const other = options.openEndpoint?.({ origin })
  const maxBodyBytes = options.maxBodyBytes ?? 4 * 1024 * 1024
  let closing: Promise<void> | undefined

  const beside = answerBeside({
    ...options,
    gate,
    approvals,
    endpoint: other,
    maxBodyBytes,
    isClosing: () => closing !== undefined,
  })
  const handle = answerRequests({
    guard,
    answersPage,
    refuserOf: (path) => (isApprovalsPath(path) ? refuseAsProblem : refuse),
    answersOther: beside,
    admit: (request, response) => gate.admit(request, response),
    endpoints,
    log,
  })

  server.on('error', (error) => log(`http: ${error.message}`))
  server.on('request', (request: IncomingMessage, response: ServerResponse) => void handle(request, response))

  async function close(): Promise<void> {
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
    approvals.endStreams()
    options.site?.endStreams()
    await Promise.all([endpoints.close(closeGraceMs), other?.close(closeGraceMs)])
    server.closeAllConnections()
    gate.close()
    await stopped
  }
  return {
    url: `${origin}/mcp`,
    port,
    changeCallers(who) {
      checkAddress({ host, ...who })
      checkTokens(who.tokens ?? [], findFault)
      gate.changeCallers(who)
      endpoints.retain((caller) => gate.isWelcome(caller))
      approvals.endStreams()
      options.site?.endStreams()
    },
    close: () => (closing ??= close()),
  }
}

/** Pages of the console come from where browsers know it. */
function consoleOrigin({ console: served }: HttpOptions): string[] {
  return served === undefined ? [] : [new URL(served.url).origin]
}

/** The address itself and the host of the resource are names that clients use. */
function hostsOf({
  host = '127.0.0.1',
  port,
  allowedHosts = [],
  oauth,
  console: served,
}: HttpOptions): string[] {
  const own = isLoopback(host) ? [] : [`${host}:${port}`]
  const urls = [
    ...(oauth === undefined ? [] : [oauth.resource]),
    ...(served === undefined ? [] : [served.url]),
  ]
  return [...allowedHosts, ...own, ...urls.map((url) => new URL(url).host)]
}
