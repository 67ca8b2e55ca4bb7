import { userInfo } from 'node:os'
import { loadConfiguration } from '../../config/load-configuration.ts'
import { gatewayPath } from '../../config/gateway-parts.ts'
import { loadGateway } from '../../config/load-gateway.ts'
import type { ServedRuntime } from '../../mcp/server/session/client-session.ts'
import type { Presentation } from '../../contract/base/call.ts'
import type { Runtime, SessionOptions } from '../../contract/runtime.ts'
import type { A2aEndpoint } from '../../a2a/server/create-a2a-endpoint.ts'
import type { Endpoint } from '../../contract/a2a/endpoint.ts'
import type { A2aServing } from '../../contract/a2a/serving.ts'
import type { GatewayConfiguration, WebhookReceiver } from '../../contract/mcp/serving.ts'
import { quoteArgv } from '../../kit/text/quote-argv.ts'
import { openMcpFeed } from '../../compose/sources/mcp-tools.ts'
import type { PassthroughStdioOptions } from '../../mcp/server/stdio/serve-passthrough-stdio.ts'
import type { StdioOptions } from '../../mcp/server/stdio/serve-stdio.ts'
import type { StdioServer } from '../../mcp/server/stdio/serve-streams.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { callerOptions, presentationOption, readCaller, readText } from '../arguments/caller.ts'
import { defaultPort, readPort } from '../setup/read-port.ts'
import { commandName } from '../base/command-name.ts'
import { agentModelOptions, loadAgentModel, namedModels } from '../model/agent-model.ts'
import { presentKeyNames } from '../model/provider-keys.ts'
import { exitCodes } from '../base/exit-codes.ts'
import type { Command } from '../base/command.ts'
import type { OpenConsole } from '../setup/open-console.ts'
import { followGateway } from '../setup/follow-gateway.ts'
import { startFollowing } from '../setup/follow-configuration.ts'
import { startFollowingTools } from '../setup/follow-tools.ts'
import { readChoice } from '../terminal/read-choice.ts'
import { listenForStop, whenAborted } from '../terminal/stop-signal.ts'
import { openTerminal } from '../terminal/terminal.ts'
import { createOperatorLog } from '../terminal/tell-operator.ts'
import { createTerminalApprover } from '../terminal/terminal-approver.ts'
import { createTerminalElicitation } from '../terminal/terminal-elicitation.ts'
import { UsageError } from '../base/usage-error.ts'
import { beforeAbort } from '../../kit/time/before-abort.ts'
import { showLine } from '../base/show-safely.ts'
import {
  defaultHome,
  findPlaces,
  readEnvironment,
  wireRuntime,
  type AgentModelChoice,
  type LoadNamedModels,
  type Places,
} from '../setup/wire.ts'
import { collectGarbage, growYoungGeneration, keepYoungGeneration } from '../terminal/heap.ts'

/** `handrail serve` */
export const serve: Command = {
  usage: '',
  summary: 'Serves the tools over MCP.',
  more: 'Over HTTP on 127.0.0.1, or to one client over standard streams. Ctrl-C stops it.',
  options: {
    port: { takes: 'N', about: 'Default: HANDRAIL_PORT, else 7420; 0 takes any that is free.' },
    stdio: { about: 'Serves one client over standard input and output.' },
    server: { takes: 'NAME', about: 'With --stdio: this MCP server of mcp.json alone, as it is.' },
    deliver: {
      takes: 'PATH,…',
      about: 'Files below deliverables/ that each session has to deliver, with commas between.',
    },
    ...presentationOption,
    ...agentModelOptions,
    ...callerOptions,
  },
  examples: [
    'handrail serve',
    'handrail serve --port 0 --mode plan',
    'handrail serve --stdio --project ~/work',
  ],
  takes: 0,
  async run(given) {
    keepYoungGeneration()
    const presentation =
      readChoice<Presentation>(given, 'presentation', ['canonical', 'compatible']) ?? 'canonical'
    const places = findPlaces(given)
    const deliverables = readText(given, 'deliver')?.split(',')
    const session = { ...readCaller(given), ...(deliverables !== undefined && { deliverables }) }
    const agentModel = await loadAgentModel(given, places)
    const about = { presentation, session, agentModel, namedModels: namedModels(given, places) }
    const server = readText(given, 'server')
    if (given.options['stdio'] === true) return serveOverStdio(places, { ...about, server })
    if (server !== undefined)
      throw new UsageError(`"--server" goes with "--stdio". Over HTTP, each MCP server is at /mcp/<name>.`)
    return serveOverHttp(places, { ...about, port: readPort(given) })
  },
}

interface Serving {
  presentation: Presentation
  /** Who every client is. */
  session: Pick<SessionOptions, 'tenant' | 'actor' | 'role' | 'mode' | 'deliverables'>
  /** What agents work with that calls and schedules start. */
  agentModel: AgentModelChoice | undefined
  /** Loads the models that those may name. */
  namedModels: LoadNamedModels
}

async function serveOverStdio(
  places: Places,
  { server: name, agentModel, namedModels: named, ...about }: Serving & { server: string | undefined },
): Promise<number> {
  // The standard streams carry the protocol, so no person but the client's own can be asked here.
  const files = startFollowing(places)
  const declared = startFollowingTools(places)
  const servers = openMcpFeed({
    path: places.mcp,
    follow: true,
    meet: (server) => name === undefined || name === server,
  })
  const runtime = await wireRuntime(places, undefined, {
    upstreams: servers,
    meetAgents: true,
    onEvent: createOperatorLog(),
    secrets: presentKeyNames(),
    agentModel,
    namedModels: named,
  })
  const following: { close(): unknown }[] = [
    files.follow(runtime),
    declared.follow(runtime),
    await followSocket(places),
  ]
  const stop = listenForStop()
  try {
    await checkCaller(runtime, about)
    following.push(runtime.schedules.start())
    growYoungGeneration()
    const served = { runtime, servers, ...about }
    const server = name === undefined ? await serveAll(served) : await serveOne({ ...served, server: name })
    await beforeAbort(stop.signal, () => server.closed)
    await server.close()
    return exitCodes.ok
  } finally {
    await Promise.all(following.map((each) => each.close()))
    await runtime.close()
    stop.release()
  }
}

/** Hooks of agents and commands are answered here too, as that is quicker. */
async function followSocket(places: Places): Promise<{ close(): Promise<void> }> {
  const { serveSocket } = await import('../ready/serve-socket.ts')
  return serveSocket(places)
}

async function serveAll(options: StdioOptions): Promise<StdioServer> {
  const { serveStdio } = await import('../../mcp/server/stdio/serve-stdio.ts')
  return serveStdio(options)
}

async function serveOne(options: PassthroughStdioOptions): Promise<StdioServer> {
  const names = options.servers.serversOf(options.session?.tenant ?? 'local')
  if (!names.includes(options.server))
    throw new UsageError(
      `There is no MCP server "${showLine(options.server)}". ${names.length === 0 ? 'There are none.' : `There are: ${showLine(names.join(', '))}.`}`,
    )
  const { servePassthroughStdio } = await import('../../mcp/server/stdio/serve-passthrough-stdio.ts')
  return servePassthroughStdio(options)
}

const manyTools = 1_000

/** What the first clients would wait for. */
async function prepareFirstLists(served: ServedRuntime): Promise<void> {
  const { prepareList } = await import('../../mcp/server/methods/prepare-list.ts')
  await prepareList(served)
  // With fewer tools, a start leaves too little behind for the time that this takes.
  if (served.runtime.registry.size >= manyTools) collectGarbage()
}

async function serveOverHttp(
  places: Places,
  { port, agentModel, namedModels: named, ...about }: Serving & { port: number | undefined },
): Promise<number> {
  const { $schema: _, ...gateway } = loadGateway(places.home, createSchemaChecker())
  const { webhooks = [], a2a, ...serving } = gateway
  const stop = listenForStop()
  const terminal = openTerminal(() => stop.stop())
  const approve = terminal && createTerminalApprover(terminal, { by: userInfo().username })
  const elicit = terminal && createTerminalElicitation(terminal)
  const files = startFollowing(places)
  const declared = startFollowingTools(places)
  const { createMetrics } = await import('../../telemetry/create-metrics.ts')
  const metrics = createMetrics()
  const servers = openMcpFeed({ path: places.mcp, follow: true })
  const runtime = await wireRuntime(places, approve, {
    elicit,
    observers: [metrics.observer],
    upstreams: servers,
    meetAgents: true,
    onEvent: createOperatorLog(),
    secrets: presentKeyNames(),
    agentModel,
    namedModels: named,
  })
  const { openVersions } = await import('../setup/open-versions.ts')
  const { book, keepVersion } = await openVersions(places, runtime)
  const following: { close(): unknown }[] = [
    files.follow(runtime, keepVersion),
    declared.follow(runtime),
    await followSocket(places),
  ]
  const { serveHttp } = await import('../../mcp/server/http/serve-http.ts')
  const { inviteToConsole, openConsole } = await import('../setup/open-console.ts')
  const { createReplayer } = await import('../run/replay-kept-run.ts')
  try {
    const tools = await checkCaller(runtime, about)
    await prepareFirstLists({ runtime, ...about })
    following.push(runtime.schedules.start())
    if (webhooks.length > 0) following.push(await startWebhooks(runtime, { webhooks, places }))
    growYoungGeneration()
    const peers = a2a && (await openPeerDoor(runtime, { a2a, asksHere: approve !== undefined }))
    const replay = createReplayer(runtime.store, places)
    const site = openConsole(runtime, { places, servers, gateway, book, replay, keys: presentKeyNames() })
    const server = await serveHttp({
      runtime,
      servers,
      metrics,
      site: site.site,
      ...about,
      ...serving,
      port: port ?? gateway.port ?? defaultPort,
      ...(approve !== undefined && { approve }),
      ...(elicit !== undefined && { elicit }),
      ...(peers !== undefined && { openEndpoint: (address) => peers.open(address) }),
    })
    const doors = { site, server, peers }
    following.push(followGateway({ home: places.home, current: gateway }, changeAll(doors)))
    process.stdout.write(
      describe(runtime, {
        url: server.url,
        console: await inviteToConsole(runtime, server.url),
        servers: servers.describe().servers.length,
        home: places.home,
        gateway,
        canAsk: approve !== undefined,
        tools,
      }),
    )
    await whenAborted(stop.signal)
    process.stdout.write('\nhandrail: stopping\n')
    await server.close()
    return exitCodes.ok
  } finally {
    await Promise.all(following.map((each) => each.close()))
    await runtime.close()
    stop.release()
  }
}

interface Doors {
  readonly site: Pick<OpenConsole, 'prepare'>
  readonly server: { changeCallers(next: GatewayConfiguration): void }
  readonly peers: { change(a2a: A2aServing | undefined): void } | undefined
}

/** Who may connect or get in changes at every door, or, if one cannot take it, at none. */
function changeAll({ site, server, peers }: Doors): {
  changeCallers(next: GatewayConfiguration): void
} {
  return {
    changeCallers(next) {
      const change = site.prepare(next)
      server.changeCallers(next)
      peers?.change(next.a2a)
      change()
    },
  }
}

/** The door for other domains. It is opened where the server listens. */
async function openPeerDoor(
  runtime: Runtime,
  { a2a, asksHere }: { a2a: A2aServing; asksHere: boolean },
): Promise<{ open(address: { origin: string }): Endpoint; change(a2a: A2aServing | undefined): void }> {
  const { a2aPath, createA2aEndpoint } = await import('../../a2a/server/create-a2a-endpoint.ts')
  const { packageVersion } = await import('../../mcp/server/session/package-version.ts')
  const log = (line: string): void => void process.stderr.write(`handrail: ${showLine(line)}\n`)
  let endpoint: A2aEndpoint | undefined
  return {
    open({ origin }) {
      const url = `${origin}${a2aPath}`
      endpoint = createA2aEndpoint({ runtime, serving: a2a, url, version: packageVersion(), asksHere, log })
      return endpoint
    },
    change: (next) => endpoint?.change(next),
  }
}

async function startWebhooks(
  runtime: Runtime,
  { webhooks, places }: { webhooks: readonly WebhookReceiver[]; places: Places },
): Promise<{ close(): void }> {
  const { openWebhooks } = await import('../../compose/webhooks/open-webhooks.ts')
  const findKey = await openKeys()
  const { network } = loadConfiguration(places, createSchemaChecker()).configuration
  const log = (line: string): void => void process.stderr.write(`handrail: ${showLine(line)}\n`)
  const place = `${gatewayPath(places.home)}#/webhooks`
  return openWebhooks(runtime, { webhooks, place, network, findKey, log })
}

/** Of the environment variable with this name. */
async function openKeys(): Promise<(name: string) => Uint8Array | string> {
  const { readWebhookSecret } = await import('../../kit/approvals/webhook-signature.ts')
  return (name) =>
    readWebhookSecret(readEnvironment(name) ?? '') ??
    `The environment variable "${name}" has no secret: it is "whsec_" and the base64 of 24 to 64 bytes. Set it.`
}

/** How many tools clients have. Sessions are opened when they come; one that cannot be is a fault of the start. */
async function checkCaller(runtime: Runtime, { session }: Pick<Serving, 'session'>): Promise<number> {
  const opened = runtime.session(session)
  const { length } = opened.tools()
  await opened.close()
  return length
}

function describe(runtime: Runtime, served: Served): string {
  const { url, servers, gateway, home, canAsk, tools } = served
  const ownHome = home === defaultHome() ? [] : ['--home', home]
  const hasTokens = gateway.tokens !== undefined || gateway.oauth !== undefined
  return `handrail serves MCP at ${url}

  console    ${served.console}
             opens once, within ten minutes; "handrail console" makes another
  project    ${runtime.project}
  tools      ${tools} (handrail tools)${describeServers(servers)}
  store      ${runtime.store.description}, ${countRecords(runtime)} records
  sandbox    ${runtime.sandbox}
  metrics    ${new URL('/metrics', url).href}
  callers    ${describeCallers(gateway)}${describePeers(gateway)}
  approvals  ${canAsk ? 'asked through the client where it can, else at this terminal' : 'asked through the client where it can, else denied'}
             handrail approvals, and ${new URL('/approvals', url).href}

  Connect a client:
    Claude Code    claude mcp add --transport http handrail ${url}${hasTokens ? ' --header "Authorization: Bearer <token>"' : ''}
    any client     {"mcpServers": {"handrail": {"type": "http", "url": "${url}"${hasTokens ? ', "headers": {"Authorization": "Bearer <token>"}' : ''}}}}
    over stdio     ${commandName()} serve --stdio ${quoteArgv(['--project', runtime.project, ...ownHome])}

  Ctrl-C stops.
`
}

interface Served {
  /** How many. */
  tools: number
  url: string
  /** The link into the console. */
  console: string
  home: string
  /** How many MCP servers there are, those of single tenants too. */
  servers: number
  gateway: GatewayConfiguration
  canAsk: boolean
}

function describeServers(count: number): string {
  if (count === 0) return ''
  return `\n  servers    ${count} in mcp.json, connected to when they are needed (handrail mcp status)`
}

function describeCallers({ tokens, oauth }: GatewayConfiguration): string {
  const ways = [
    ...(tokens === undefined ? [] : [`${tokens.length} by token`]),
    ...(oauth === undefined ? [] : [`those of ${showLine(oauth.issuer)}`]),
  ]
  return ways.length === 0 ? 'every program on this machine (handrail token)' : ways.join(', ')
}

function describePeers({ a2a }: GatewayConfiguration): string {
  return a2a === undefined ? '' : `\n  peers      ${a2a.peers.length} over A2A, at /a2a`
}

function countRecords({ store }: Runtime): number {
  return store.tenants().reduce((count, tenant) => count + (store.head(tenant)?.sequence ?? 0), 0)
}
