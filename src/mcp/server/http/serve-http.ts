import type { IncomingMessage, ServerResponse } from 'node:http'
import type { GatewayConfiguration } from '../../../contract/mcp/serving.ts'
import { takesRecords } from '../../../kit/takes-records.ts'
import { createAdmission } from '../web/admission.ts'
import { isCaller, type Caller, type Callers } from '../callers/caller.ts'
import { checkAddress, checkTokens, createFaultFinder } from '../callers/check-callers.ts'
import { createCallers } from '../callers/create-callers.ts'
import { httpModule } from '../web/http-module.ts'
import type { ServedRuntime } from '../session/client-session.ts'
import { createCors } from '../web/cors.ts'
import { createGuard } from '../web/http-guard.ts'
import { isLoopback, listen } from '../web/listen.ts'
import { createPassthroughs } from '../passthrough/create-passthroughs.ts'
import type { OpenClientServer } from '../client-server.ts'
import { createClientServers } from '../client-server.ts'
import { createMcpEndpoint } from './mcp-endpoint.ts'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { packageVersion } from '../session/package-version.ts'
import { refuse, sendJson, sendText, type Refusal } from '../web/send-json.ts'

export interface HttpOptions extends ServedRuntime, Omit<GatewayConfiguration, '$schema' | 'port'> {
  /** 0 takes any free port. */
  readonly port: number
  /** What `/metrics` shows. Default: `/metrics` does not exist. */
  readonly metrics?: { readonly contentType: string; text(): string }
  /** Takes one line for a person. Default: the standard error output. */
  readonly log?: (line: string) => void
}

/** Who may connect. */
type Who = Pick<GatewayConfiguration, 'tokens' | 'oauth'>

/** A running server. */
export interface HttpServer {
  /** Of the MCP endpoint, such as `http://127.0.0.1:7331/mcp`. */
  readonly url: string
  readonly port: number
  /**
   * Other callers may connect from the next request on. Throws a `SetupError` if the server could not know who they are, or a token could
   * not be served; then all stays as it was.
   */
  changeCallers(who: Who): void
  /** Takes no more requests, lets running calls end for a while, aborts the rest. */
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
  const readCallers = (who: Who): Callers =>
    createCallers({ ...who, everybody: options.session ?? {}, findFault, log })
  let callers = readCallers(options)
  const admission = createAdmission(options)
  const openEndpoint = (openClientServer: OpenClientServer) =>
    createMcpEndpoint({
      openClientServer,
      maxSessions: options.maxSessions ?? 100,
      idleMs: options.sessionIdleMs ?? 1_800_000,
      maxAgeMs: options.sessionMs ?? 86_400_000,
      maxBodyBytes: options.maxBodyBytes ?? 4 * 1024 * 1024,
      log,
    })
  const endpoint = openEndpoint(createClientServers(options, log))
  const passthroughs = new Map<string, ReturnType<typeof openEndpoint>>()
  const endpoints = () => [endpoint, ...passthroughs.values()]
  let closing: Promise<void> | undefined

  /** The endpoint that shows one server of the caller's tenant; undefined if the request was answered. */
  function findPassthrough(
    path: string,
    caller: Caller,
    response: ServerResponse,
  ): typeof endpoint | undefined {
    const { servers } = options
    const names = servers?.serversOf(caller.session.tenant ?? 'local') ?? []
    const name = names.find((each) => path === `/mcp/${encodeURIComponent(each)}`)
    if (servers === undefined || name === undefined) {
      const there = names.length === 0 ? 'There are none.' : `There are: ${names.join(', ')}.`
      refuse(response, {
        status: 404,
        message: `There is no such MCP server. ${there}`,
        data: { servers: names },
      })
      return undefined
    }
    const found =
      passthroughs.get(name) ?? openEndpoint(createPassthroughs({ served: options, servers, name, log }))
    passthroughs.set(name, found)
    return found
  }

  /** The caller of a request that may go on; undefined if it was answered. */
  async function admit(request: IncomingMessage, response: ServerResponse): Promise<Caller | undefined> {
    const found = await callers.identify(request)
    if (!isCaller(found)) {
      refuse(response, found)
      return undefined
    }
    const refused = admission.enter(found.key, response)
    if (refused === undefined) return found
    refuse(response, refused)
    return undefined
  }

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const refused = guard(request)
    if (refused !== undefined) return refuse(response, { status: 403, message: refused })
    if (answersPage(request, response)) return
    const path = (request.url ?? '/').split('?', 1)[0]
    if (path === '/mcp') {
      const caller = await admit(request, response)
      return caller && endpoint.serve({ request, response, caller })
    }
    if (path?.startsWith('/mcp/') === true) {
      const caller = await admit(request, response)
      return caller && findPassthrough(path, caller, response)?.serve({ request, response, caller })
    }
    const metrics = path === '/metrics' ? options.metrics : undefined
    const { resourceMetadata } = callers
    const isMetadata = resourceMetadata !== undefined && path === resourceMetadata.path
    if (path !== '/' && path !== '/healthz' && metrics === undefined && !isMetadata)
      return sendJson(response, { error: 'There is nothing here; MCP is at /mcp.' }, { status: 404 })
    if (request.method !== 'GET')
      return sendJson(
        response,
        { error: 'Only GET is answered here.' },
        { status: 405, headers: { allow: 'GET' } },
      )
    if (isMetadata) return sendJson(response, resourceMetadata.document)
    if (metrics !== undefined) {
      const caller = await admit(request, response)
      if (caller === undefined) return
      if (caller.readsMetrics !== true) return refuse(response, notForMetrics)
      return sendText(response, metrics.text(), metrics.contentType)
    }
    const health = describeHealth()
    if (path === '/healthz') return sendJson(response, health, { status: health.status === 'ok' ? 200 : 503 })
    sendJson(response, { name: 'handrail', version: packageVersion(), status: health.status, mcp: '/mcp' })
  }

  /** Without a store that takes records, no call runs that has to be recorded. */
  function describeHealth(): { status: string; reason?: string } {
    if (closing !== undefined) return { status: 'closing' }
    const { store } = options.runtime
    if (takesRecords(store)) return { status: 'ok' }
    const why = store.trouble === undefined ? '' : `: ${store.trouble}`
    return { status: 'unavailable', reason: `The store takes no records${why}.` }
  }

  server.on('error', (error) => log(`http: ${error.message}`))
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', (error) => log(`http: ${error.message}`))
    route(request, response).catch((error: unknown) => {
      if (request.destroyed && !request.complete) return
      if (error instanceof ToolFailure)
        return refuse(response, { status: 503, message: error.message, data: { reason: error.reason } })
      log(`http: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
      const message = 'Handrail failed on this request; its log has the cause.'
      refuse(response, { status: 500, code: -32603, message })
    })
  })

  async function close(): Promise<void> {
    const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
    await Promise.all(endpoints().map((each) => each.close(closeGraceMs)))
    server.closeAllConnections()
    admission.close()
    await stopped
  }
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return {
    url: `http://${name}:${port}/mcp`,
    port,
    changeCallers(who) {
      checkAddress({ host, ...who })
      checkTokens(who.tokens ?? [], findFault)
      callers = readCallers(who)
      for (const each of endpoints()) each.retain((caller) => callers.stands(caller))
    },
    close: () => (closing ??= close()),
  }
}

const notForMetrics: Refusal = {
  status: 403,
  message:
    'This caller may not read the metrics of all tenants. Use a token that may: "handrail token prometheus --metrics --write" makes one.',
}

/** The address itself and the host of the resource are names that clients use. */
function hostsOf({ host = '127.0.0.1', port, allowedHosts = [], oauth }: HttpOptions): string[] {
  const own = isLoopback(host) ? [] : [`${host}:${port}`]
  return [...allowedHosts, ...own, ...(oauth === undefined ? [] : [new URL(oauth.resource).host])]
}
