import type * as SdkModule from '@modelcontextprotocol/client'
import type { Client, ClientOptions, Transport } from '@modelcontextprotocol/client'
import type { Json, JsonObject } from '../../contract/json.ts'
import type { LineEnd } from '../../contract/server-line.ts'
import type { FeedHost } from '../../contract/tool-feed.ts'
import type { UpstreamServer } from '../../contract/upstream.ts'
import { jsonSize } from '../../kit/json-size.ts'
import { asIs } from './as-is.ts'
import { fillSecrets } from './fill-secrets.ts'
import type { Login } from './login/create-login.ts'
import { ProgramTransport } from './program-transport.ts'
import type { ServerLog } from './server-log.ts'
import { boundFlow, createFlow } from './watch-flow.ts'

/** Whether a server shakes hands (to 2025-11-25) or answers each request alone (2026-07-28). */
export type Era = 'legacy' | 'modern'

/** An open connection to a server. */
export interface Connection {
  readonly client: Client
  readonly era: Era
  readonly version: string
  /** Aborted when the connection is no more. */
  readonly ended: AbortSignal
  close(): Promise<void>
}

/** What a connection is opened with. */
export interface ConnectionOptions {
  readonly server: UpstreamServer
  readonly host: FeedHost
  /** Whose connection it is. */
  readonly tenant: string
  /** Undefined where nobody logs in. */
  readonly login: Login | undefined
  /** Whether no token is sent, whoever is logged in. Default false. */
  readonly isAnonymous?: boolean
  /** What an earlier connection found out. */
  readonly era: Era | undefined
  /** The one client that the connection is for. Undefined: it is for all calls of the tenant. */
  readonly end?: LineEnd | undefined
  readonly timeoutMs: number
  /** Ends what is being opened. */
  readonly signal: AbortSignal
  /** Told that the server has other tools now. */
  readonly onListChanged: () => void
  /** Told that it has other resources now; not where the connection is for one client, who is told by the server. */
  readonly onResourcesChanged?: (() => void) | undefined
  /** Answers what the server asks; a rejection is told to it. */
  readonly answer: (method: string, params: JsonObject, signal: AbortSignal) => Promise<JsonObject>
  /** Takes what the server says beside the protocol, and what is wrong with its messages. Asked for before each try, of which there may be two. */
  readonly newLog: () => ServerLog
}

/** How long a server of a program may be silent before it counts as one that shakes hands. */
const probeMs = 3_000

/**
 * Connects to a server in whichever era it speaks. Some programs end when they are asked something before the handshake: these are
 * started again, and shake hands. Rejects with why it could not be.
 */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  if (options.era === 'legacy') return connect(options, 'legacy')
  if (options.end?.era === 'legacy' && options.era === undefined) return connectLike(options)
  if (options.server.transport.kind === 'http') return connect(options, 'auto')
  try {
    return await connect(options, 'auto')
  } catch (error) {
    if (options.signal.aborted || !wasLost(error)) throw error
    return connect(options, 'legacy')
  }
}

/** A server that knows no handshake is spoken to without. */
async function connectLike(options: ConnectionOptions): Promise<Connection> {
  try {
    return await connect(options, 'legacy')
  } catch (error) {
    if (options.signal.aborted) throw error
    return connect(options, 'auto')
  }
}

async function connect(options: ConnectionOptions, mode: 'legacy' | 'auto'): Promise<Connection> {
  const { timeoutMs, signal, onListChanged, onResourcesChanged, end } = options
  const log = options.newLog()
  const sdk = await import('@modelcontextprotocol/client')
  const { transport, release } = await openTransport(options, { sdk, log })
  const ending = new AbortController()
  const settings: ClientOptions = {
    capabilities: end === undefined ? toOffer(options.server) : toServe(end.capabilities),
    versionNegotiation: { mode, probe: { timeoutMs: Math.min(probeMs, timeoutMs) } },
    listChanged: {
      tools: { autoRefresh: false, onChanged: () => onListChanged() },
      ...(onResourcesChanged !== undefined && {
        resources: { autoRefresh: false, onChanged: () => onResourcesChanged() },
      }),
    },
  }
  const client = new sdk.Client({ name: 'handrail', title: 'Handrail', version: '1.0.0' }, settings)
  client.onerror = (error) => log.add(`${error.message}\n`)
  client.fallbackRequestHandler = ({ method, params }, { mcpReq }) =>
    // Whoever reads messages reads JSON.
    options.answer(method, (params ?? {}) as JsonObject, mcpReq.signal)
  if (end !== undefined) attend(client, end)
  client.onclose = () => {
    ending.abort()
    void release()
  }
  const abandon = () => void transport.close().catch(() => {})
  signal.addEventListener('abort', abandon, { once: true })
  try {
    signal.throwIfAborted()
    await client.connect(transport, { timeout: timeoutMs })
    if (options.server.transport.kind === 'http') boundFlow(transport, createFlow(), client.onerror)
  } catch (error) {
    await transport.close().catch(() => {})
    await release()
    throw error
  } finally {
    signal.removeEventListener('abort', abandon)
  }
  return {
    client,
    era: client.getProtocolEra() ?? 'legacy',
    version: client.getNegotiatedProtocolVersion() ?? '',
    ended: ending.signal,
    close: () => client.close(),
  }
}

/** What servers may ask while calls run. No folders (roots): there are servers that take them in the place of those that the operator named. */
function toOffer({ sampling }: UpstreamServer): ClientOptions['capabilities'] {
  return { elicitation: { form: {}, url: {} }, ...(sampling && { sampling: {} }) }
}

/** What a client can do for a server; everything else of it is between us and the client. */
function toServe(capabilities: JsonObject): JsonObject {
  const forServers = ['elicitation', 'sampling', 'roots']
  return Object.fromEntries(Object.entries(capabilities).filter(([name]) => forServers.includes(name)))
}

/** What the server tells goes to the one client that the connection is for. */
function attend(client: Client, end: LineEnd): void {
  client.fallbackNotificationHandler = async ({ method, params }) =>
    // Whoever reads messages reads JSON.
    end.notify(method, (params ?? {}) as Record<string, Json>)
}

type Sdk = typeof SdkModule

async function openTransport(
  { server, host, tenant, login, isAnonymous = false }: ConnectionOptions,
  { sdk, log }: { sdk: Sdk; log: ServerLog },
): Promise<{ transport: Transport; release: () => Promise<void> }> {
  const { transport } = server
  const flow = createFlow()
  if (transport.kind === 'stdio') {
    const { command, args, cwd, read, write } = transport
    const request = {
      tenant,
      argv: [command, ...args],
      cwd,
      env: fillSecrets(server, tenant, host),
      read,
      write,
      hosts: server.hosts,
    }
    const program = new ProgramTransport({ programs: host.programs, request, flow, log })
    return { transport: program, release: async () => {} }
  }
  const door = host.web.reach(transport.url)
  const web = new sdk.StreamableHTTPClientTransport(new URL(transport.url), {
    fetch: login?.over(door.request, { isAnonymous }) ?? door.request,
    requestInit: { headers: fillSecrets(server, tenant, host) },
  })
  return { transport: web, release: () => door.close() }
}

/** The program ended before it was known which era it speaks. */
function wasLost(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === 'ERA_NEGOTIATION_FAILED' || error.code === 'CONNECTION_CLOSED'
}

/** A list that is heavier than this, all pages together, is none. */
const maxListBytes = 32 * 1024 * 1024

/** All entries of one of a server's lists, page by page, up to `most`. Rejects where they are too heavy. */
export async function listAll(
  { client }: Connection,
  { method, field, most, timeoutMs }: { method: string; field: string; most: number; timeoutMs: number },
): Promise<unknown[]> {
  const found: unknown[] = []
  const deadline = performance.now() + timeoutMs
  let bytes = 0
  let cursor: unknown
  do {
    const timeout = Math.max(1, deadline - performance.now())
    const page = await client.request({ method, params: cursor === undefined ? {} : { cursor } }, asIs, {
      timeout,
    })
    const entries = page[field]
    if (!Array.isArray(entries)) throw new Error(`Its answer to "${method}" has no list of ${field}.`)
    bytes += weigh(entries)
    if (bytes > maxListBytes)
      throw new Error(`Its ${field} are nested too deeply, or have more than ${maxListBytes} bytes together.`)
    found.push(...entries.slice(0, most - found.length))
    if (page['nextCursor'] === cursor || entries.length === 0) break
    cursor = page['nextCursor']
  } while (typeof cursor === 'string' && found.length < most)
  return found
}

/** What is nested too deeply to be weighed is too heavy. */
function weigh(entries: readonly unknown[]): number {
  try {
    return jsonSize(entries)
  } catch (error) {
    if (error instanceof RangeError) return Infinity
    throw error
  }
}
