import { readJsonObject } from '../../../kit/json/is-json-object.ts'
import { basename } from 'node:path'
import type * as SdkModule from '@modelcontextprotocol/client'
import type { Client, ClientOptions, RequestOptions, Transport } from '@modelcontextprotocol/client'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { DirectClient } from '../../../contract/mcp/direct-connection.ts'
import type { FeedHost, ProgramRequest } from '../../../contract/mcp/tool-feed.ts'
import type { UpstreamServer, UpstreamTransport } from '../../../contract/mcp/upstream.ts'
import { jsonSize } from '../../../kit/json/json-size.ts'
import { isPlainAnswer } from '../../translate/plain-messages.ts'
import { layBeside } from '../../packages/lay-beside.ts'
import { FetchFailed } from '../../packages/fetch-failed.ts'
import { fetchesPackage } from '../../packages/read-package-command.ts'
import type { Packages } from '../../packages/open-packages.ts'
import { asIs } from '../base/as-is.ts'
import { findBesideFolder, findDataFolder } from '../base/data-folder.ts'
import { findPackage } from '../base/find-package.ts'
import { createPlainRequests, type PlainRequest, type PlainRequests } from './plain-requests.ts'
import { fillSecrets } from './fill-secrets.ts'
import type { Login } from '../login/create-login.ts'
import { completeResults } from './complete-results.ts'
import { ProgramTransport } from './program-transport.ts'
import type { ServerLog } from '../base/server-log.ts'
import { readAnswers } from './read-answers.ts'
import { boundFlow, createFlow } from './watch-flow.ts'

/** Whether a server shakes hands (to 2025-11-25) or answers each request alone (2026-07-28). */
export type Era = 'legacy' | 'modern'

/** An open connection to a server. */
export interface Connection {
  readonly client: Client
  /** Sends a request; resolves with its result as it came. */
  request(request: PlainRequest, options: RequestOptions): Promise<JsonObject>
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
  /** Where the programs of servers keep their data. Undefined: nowhere. */
  readonly folder?: string | undefined
  /** Undefined: the command of a program fetches what it runs, if it does. */
  readonly packages?: Packages | undefined
  /** Undefined: no login. */
  readonly login: Login | undefined
  /** Whether no token is sent, even with a login. Default false. */
  readonly isAnonymous?: boolean
  /** What an earlier connection found out. */
  readonly era: Era | undefined
  /** The one client that the connection is for. Undefined: it is for all calls of the tenant. */
  readonly end?: DirectClient | undefined
  readonly timeoutMs: number
  /** Told of a fault of the way to it while it is open, which may mean that it is gone. Default: no listener. */
  readonly onTrouble?: () => void
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

/** The last revision in which hands are shaken. */
const shaking = '2025-11-25'
/** The first in which they are not. */
const unshaken = '2026-07-28'
/** How long a server of a program may be silent before it counts as one that shakes hands. */
const probeMs = 3_000

/**
 * Connects to a server in whichever era it speaks. Some programs end when they are asked something before the handshake: these are
 * started again, and shake hands. One that was slow to say that it shakes none is started again too. Rejects with why it could not be.
 */
export async function openConnection(options: ConnectionOptions): Promise<Connection> {
  const { protocol } = options.server
  if (protocol !== undefined) return connect(options, protocol === shaking ? 'legacy' : { pin: protocol })
  if (options.era === 'legacy') return connect(options, 'legacy')
  if (options.end?.era === 'legacy' && options.era === undefined) return connectLike(options)
  if (options.server.transport.kind === 'http') return connect(options, 'auto')
  let isLate = false
  try {
    return await connect({ ...options, onLate: () => (isLate = true) }, 'auto')
  } catch (error) {
    if (options.signal.aborted) throw error
    if (wasLost(error)) return connect(options, 'legacy')
    if (!isLate) throw error
    // It shakes no hands, and was only slow to say so.
    return connect(options, { pin: unshaken }).catch(() => {
      throw error
    })
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

interface Hearing {
  /** Told when a server says which era it speaks, after it counted as one that shakes hands. */
  readonly onLate?: () => void
}

type Mode = 'legacy' | 'auto' | { readonly pin: string }

async function connect(options: ConnectionOptions & Hearing, mode: Mode): Promise<Connection> {
  const { timeoutMs, signal, end } = options
  const log = options.newLog()
  const program = await beginProgram(options, log)
  const sdk = await loadSdk(program)
  const plain = createPlainRequests(sdk, (message) => transport.send(message))
  const { transport, release } = program ?? openWeb(options, { sdk, plain })
  const ending = new AbortController()
  let isOpen = false
  // What is silent is not taken for one that shakes hands.
  const isPatient = program === undefined || mode !== 'auto'
  const settings: ClientOptions = {
    capabilities: end === undefined ? toOffer(options.server) : toServe(end.capabilities),
    versionNegotiation: { mode, probe: { timeoutMs: isPatient ? timeoutMs : Math.min(probeMs, timeoutMs) } },
  }
  const client = new sdk.Client({ name: 'handrail', title: 'Handrail', version: '1.0.0' }, settings)
  client.onerror = (error) => {
    if (isLateProbe.test(error.message)) return options.onLate?.()
    log.add(`${error.message}\n`)
    if (isOpen) options.onTrouble?.()
  }
  client.fallbackRequestHandler = ({ method, params }, { mcpReq }) =>
    options.answer(method, readJsonObject(params), mcpReq.signal)
  const wanted = hearChanges(client, options)
  if (end !== undefined) attend(client, end)
  client.onclose = () => {
    plain.close()
    ending.abort()
    void release()
  }
  const abandon = () => void transport.close().catch(() => {})
  signal.addEventListener('abort', abandon, { once: true })
  try {
    signal.throwIfAborted()
    await client.connect(transport, { timeout: timeoutMs })
    if (options.server.transport.kind === 'http') boundFlow(transport, createFlow(), client.onerror)
    if (client.getProtocolEra() === 'modern') {
      completeResults(transport)
      subscribe(client, wanted)
    } else handAnswers(transport, plain)
    isOpen = true
  } catch (error) {
    await transport.close().catch(() => {})
    await release()
    throw error
  } finally {
    signal.removeEventListener('abort', abandon)
  }
  const era = client.getProtocolEra() ?? 'legacy'
  return {
    client,
    request: (request, options) =>
      era === 'legacy' ? plain.request(request, options) : client.request(request, asIs, options),
    era,
    version: client.getNegotiatedProtocolVersion() ?? '',
    ended: ending.signal,
    close: () => client.close(),
  }
}

/** What answers plain requests does not go on to the SDK. */
function handAnswers(transport: Transport, plain: PlainRequests): void {
  const receive = transport.onmessage
  transport.onmessage = (message, extra) => {
    if (!plain.take(message)) receive?.(message, extra)
  }
}

type Changes = 'tools' | 'resources'

/** Hears that lists of the server changed; returns which lists it hears of. */
function hearChanges(client: Client, { onListChanged, onResourcesChanged }: ConnectionOptions): Changes[] {
  client.setNotificationHandler('notifications/tools/list_changed', () => onListChanged())
  if (onResourcesChanged === undefined) return ['tools']
  client.setNotificationHandler('notifications/resources/list_changed', () => onResourcesChanged())
  return ['tools', 'resources']
}

/** Asks to hear of them without a session (2026-07-28). The caller does not wait for it: some servers never confirm it. */
function subscribe(client: Client, wanted: readonly Changes[]): void {
  const capabilities = client.getServerCapabilities()
  const told = wanted.filter((each) => capabilities?.[each]?.listChanged === true)
  if (told.length === 0) return
  const filter = Object.fromEntries(told.map((each) => [`${each}ListChanged`, true]))
  client.listen(filter).catch((error: unknown) => client.onerror?.(toError(error)))
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
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
function attend(client: Client, end: DirectClient): void {
  client.fallbackNotificationHandler = async ({ method, params }) =>
    end.notify(method, readJsonObject(params))
}

type Sdk = typeof SdkModule

interface OpenTransport {
  readonly transport: Transport
  readonly release: () => Promise<void>
}

/** The program of a server, which runs; undefined if the server is on the web. */
async function beginProgram(options: ConnectionOptions, log: ServerLog): Promise<OpenTransport | undefined> {
  const { transport } = options.server
  if (transport.kind !== 'stdio') return undefined
  const { programs } = options.host
  const request = await toRequest(options, transport)
  options.signal.throwIfAborted()
  const program = new ProgramTransport({ programs, request, flow: createFlow(), log })
  await program.begin()
  return { transport: program, release: async () => {} }
}

/** What speaks with a server takes a while to load the first time, in which its program gets ready. */
async function loadSdk(program: OpenTransport | undefined): Promise<Sdk> {
  try {
    return await import('@modelcontextprotocol/client')
  } catch (error) {
    await program?.transport.close()
    throw error
  }
}

function openWeb(
  { server, host, tenant, login, isAnonymous = false }: ConnectionOptions,
  { sdk, plain }: { sdk: Sdk; plain: PlainRequests },
): OpenTransport {
  const { transport } = server
  if (transport.kind !== 'http') throw new Error(`The server "${server.name}" is not on the web.`)
  const origin = host.web.reach(transport.url)
  const request = login?.over(origin.request, { isAnonymous }) ?? origin.request
  const web = new sdk.StreamableHTTPClientTransport(new URL(transport.url), {
    fetch: readAnswers(request, (message) => isPlainAnswer(message) && plain.take(message)),
    requestInit: { headers: fillSecrets(server, tenant, host) },
  })
  return { transport: web, release: () => origin.close() }
}

/** A server that was not up in time for the question which era it speaks answers it later, which is not a fault. */
const isLateProbe = /unknown message ID.*server-discover-probe/s

/** What to start: the command as it stands, or the program of the package that it fetches. */
async function toRequest(
  { server, host, tenant, folder, packages, signal }: ConnectionOptions,
  { command, args, cwd, read, write }: Extract<UpstreamTransport, { kind: 'stdio' }>,
): Promise<ProgramRequest> {
  const env = fillSecrets(server, tenant, host)
  const home = findDataFolder({ server, host, tenant, folder })
  const { hosts } = server
  const own = { home, write: [], read: [], hosts: [] }
  const plain = { tenant, argv: [command, ...args], cwd, env, read, write, hosts, own }
  const wanted = findPackage(server)
  if (wanted === undefined || packages === undefined) {
    if (server.hosts.length > 0 || !fetchesPackage(command, args)) return plain
    throw new FetchFailed(`"${basename(command)}" fetches what it runs, and may reach nothing.`)
  }
  const found = await packages.open(wanted.command, { tenant, hosts: wanted.hosts })
  const kept = findBesideFolder({ server, host, tenant, folder }) ?? ''
  const over = await layBeside(found, { programs: host.programs, tenant, kept, signal })
  return {
    ...plain,
    argv: [found.program, ...wanted.command.args],
    own: { ...own, read: [found.folder], over },
  }
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
