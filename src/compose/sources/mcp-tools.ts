import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { createLoginFiles } from '../../config/servers/login-files.ts'
import {
  loadUpstreams,
  readUpstreams,
  reloadUpstreams,
  type LoadedUpstreams,
} from '../../config/servers/load-upstreams.ts'
import { watchUpstreams } from '../../config/servers/watch-upstreams.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { Authorize, LoginFacts, TokenStore } from '../../contract/mcp/login.ts'
import type { ServerConnections } from '../../contract/mcp/direct-connection.ts'
import type { FeedHost, OpenFeed, ToolFeed } from '../../contract/mcp/tool-feed.ts'
import { withinMs } from '../../kit/time/within-ms.ts'
import { createMemoryTokenStore } from '../../mcp/upstream/login/memory-token-store.ts'
import { toRedirectUrl } from '../../mcp/upstream/login/redirect-url.ts'
import type { PackageUpdate } from '../../mcp/packages/open-packages.ts'
import type { Upstreams } from '../../mcp/upstream/open-upstreams.ts'
import type { Upstream, UpstreamState } from '../../mcp/upstream/base/upstream.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { messageOf } from '../../kit/text/message-of.ts'

export type { PackageUpdate as McpPackageUpdate } from '../../mcp/packages/open-packages.ts'
export type { UpstreamState as McpServerState } from '../../mcp/upstream/base/upstream.ts'

/** Which MCP servers there are: those of a file, or those that are handed over in the shape of that file. */
export interface McpToolsOptions {
  /** Default `~/.handrail/mcp.json`. Never a file of a project: a process that may write there could declare what runs. */
  path?: string
  /** What stands under `mcpServers` of such a file. Takes its place. */
  servers?: Readonly<Record<string, unknown>>
  /** Whether changes of the file are taken over while the runtime lives, and programs that the run before called are started at once. Default false. */
  follow?: boolean
  /** Whether servers that were never seen before are connected to at once, to learn their tools; or which of them, by name. Default true. */
  meet?: boolean | ((server: string) => boolean)
  /**
   * Asked when a server wants a login: leads a person to a URL, and returns the URL that their browser was led back to. Each login is asked
   * for once; `login` asks again. Default: no person is asked, and such a server is of no use until `login` is called.
   */
  authorize?: Authorize
  /** A folder of its own that tokens are kept in. Default: `mcp-tokens` beside the file; with `servers`, memory. */
  logins?: { dir: string }
  /**
   * A folder of its own in which each program has a home that stays, by the name of its server. Default: `servers` beside the file; with
   * `servers`, none, and the home of a program is gone with it.
   */
  data?: { dir: string }
}

/** Who logs in, and for whom. */
export interface McpLoginOptions {
  /** Default `local`. */
  tenant?: string
  authorize: Authorize
  /** Where the browser is led back to. Default: `/callback` on `redirect_port` of 127.0.0.1, or on 7421. */
  redirectUrl?: string
}

/** How servers are looked at. */
export interface McpLookOptions {
  /** After this time, one that is not known yet is still `connecting`, or `idle` where it was not its turn yet. Default: each is waited for. */
  timeoutMs?: number
  /** Whether the time begins anew where a package is still being fetched when it is over. Default false. */
  patient?: boolean
  /** Told of each server as soon as it is known. */
  onKnown?: (state: UpstreamState) => void
}

/** The tools of MCP servers. */
export interface McpTools extends ToolFeed {
  /** Connects to every server, takes the tools that it has now, and says where each stands. Only while a runtime has it. */
  look(options?: McpLookOptions): Promise<McpState>
  /** Says where each server stands, as far as that is known. Connects to none. Only while a runtime has it. */
  describe(): McpState
  /** Has a person log in at a server, and connects to it. Throws a SetupError where that does not come about. Only while a runtime has it. */
  login(server: string, options: McpLoginOptions): Promise<LoginFacts>
  /**
   * Fetches the package of a server anew and pins what is newest. Undefined if it has none. Throws a SetupError where it could not be. Only
   * while a runtime has it.
   */
  update(server: string): Promise<PackageUpdate | undefined>
  /** Forgets the login of a tenant (default `local`), and tells its authorization server; false if there was none. */
  logout(server: string, options?: { tenant?: string }): Promise<boolean>
}

/** The same, with lines of single clients to single servers. */
export type McpFeed = McpTools & ServerConnections

/** Where all servers stand. */
export interface McpState {
  readonly servers: readonly UpstreamState[]
  /** What of the file cannot be used; `''` stands for the file itself. */
  readonly faulty: readonly { readonly server: string; readonly issues: readonly Issue[] }[]
  /** What of the file is left out although nothing is wrong with it. */
  readonly notices: readonly string[]
}

/**
 * The tools of MCP servers as `mcp.<server>.<tool>`. A server is connected to when it is first seen, and then when one of its tools is
 * called; what it said of its tools is remembered in the store, and a change of that waits for an approval. A server of the file that
 * is at fault is reported and left out; with `servers` it throws a SetupError. A `${NAME}` in `env` or `headers` is a secret of the runtime.
 */
export function mcpTools(options: McpToolsOptions = {}): McpTools {
  return openMcpFeed(options)
}

/** The same for a door to MCP clients, which may speak with one server alone. */
export function openMcpFeed(options: McpToolsOptions): McpFeed {
  const { path = join(homedir(), '.handrail', 'mcp.json'), servers, follow = false, meet = true } = options
  const about = { checker: createSchemaChecker(), home: homedir() }
  const dir = options.logins?.dir ?? (servers === undefined ? join(dirname(path), 'mcp-tokens') : undefined)
  const folder = options.data?.dir ?? (servers === undefined ? join(dirname(path), 'servers') : undefined)
  const keep = (): TokenStore => (dir === undefined ? createMemoryTokenStore() : createLoginFiles(dir))
  let current = servers === undefined ? loadUpstreams(path, about) : readUpstreams(servers, about)
  const issues = current.faulty.flatMap(({ issues: each }) => each)
  if (servers !== undefined && issues.length > 0)
    throw new SetupError('invalid_options', 'These servers of mcpTools cannot be used:', issues)
  let opened: Upstreams | undefined
  const ownOf = (tenant: string, name: string): Upstream | undefined => {
    const upstream = opened?.find(name)
    return (upstream?.server.tenants?.includes(tenant) ?? true) ? upstream : undefined
  }
  const find = (name: string, tenant: string): Upstream => {
    const upstream = ownOf(tenant, name)
    if (upstream === undefined) throw new SetupError('login_failed', noneOf(tenant, name))
    return upstream
  }
  const isFetching = (): boolean =>
    opened?.describe().some((server) => server.package?.fetching === true) ?? false
  const describe = (): McpState => {
    const { faulty, notices } = current
    return { servers: opened?.describe() ?? [], faulty, notices }
  }
  return {
    id: 'mcp',
    async look({ timeoutMs, patient = false, onKnown } = {}) {
      let isOver = false
      const looking = Promise.resolve(opened?.refresh((state) => void (isOver || onKnown?.(state))))
      await (timeoutMs === undefined
        ? looking
        : untilKnown(looking, { timeoutMs, waits: () => patient && isFetching() }))
      isOver = true
      return describe()
    },
    describe,
    serversOf: (tenant) =>
      (opened?.describe() ?? [])
        .map(({ server }) => server)
        .filter((name) => ownOf(tenant, name) !== undefined),
    async login(name, { tenant = 'local', authorize, redirectUrl }) {
      const upstream = find(name, tenant)
      try {
        return await upstream.login(tenant, {
          authorize,
          redirectUrl: redirectUrl ?? toRedirectUrl(upstream.server),
        })
      } catch (error) {
        const why = messageOf(error)
        throw new SetupError('login_failed', `Nobody was logged in at "${name}". ${why}`)
      }
    },
    async update(name) {
      const upstream = opened?.find(name)
      if (upstream === undefined) throw new SetupError('unknown_server', noServer(name))
      return upstream.update().catch((error: unknown) => {
        const why = messageOf(error)
        throw new SetupError('fetch_failed', `The package of "${name}" stays as it was. ${why}`)
      })
    },
    logout: async (name, { tenant = 'local' } = {}) => find(name, tenant).logout(tenant),
    resourcesVersion: (tenant) => opened?.resourcesVersion(tenant) ?? 0,
    openDirectConnection(name, end) {
      const upstream = ownOf(end.tenant, name)
      if (upstream === undefined) throw new Error(noneOf(end.tenant, name))
      return upstream.openDirectConnection(end)
    },
    async open(host) {
      const report = createReport(host)
      report(current, new Set())
      if (current.servers.length === 0 && !follow) return empty
      const { openUpstreams } = await import('../../mcp/upstream/open-upstreams.ts')
      const upstreams = openUpstreams(host, {
        meet: typeof meet === 'function' ? meet : () => meet,
        keep: keep(),
        authorize: options.authorize,
        folder,
        // What lives for one call would start programs for nothing.
        ahead: follow,
      })
      opened = upstreams
      await upstreams.take(current.servers)
      if (!follow || servers !== undefined) return upstreams
      return withWatch(
        upstreams,
        watchUpstreams({
          path,
          load: () => reloadUpstreams(path, current, about),
          current,
          async onChange(loaded) {
            current = loaded
            await takeOver(loaded, upstreams, report)
          },
          onFailure: (error) => host.report('mcp', notTakenOver(error)),
        }),
      )
    },
  }
}

/** How often it is looked whether a package is still being fetched. */
const everyMs = 250

/** Waits so long, beginning anew while something else has to be waited for. */
async function untilKnown(
  looking: Promise<void>,
  { timeoutMs, waits }: { timeoutMs: number; waits: () => boolean },
): Promise<void> {
  let end = performance.now() + timeoutMs
  for (let left = timeoutMs; left > 0; left = end - performance.now()) {
    if (await withinMs(looking, Math.min(left, everyMs))) return
    if (waits()) end = performance.now() + timeoutMs
  }
}

const empty: OpenFeed = { settled: async () => {}, close: async () => {} }

function withWatch(upstreams: Upstreams, watch: { close(): Promise<void> }): OpenFeed {
  return {
    settled: (withinMs) => upstreams.settled(withinMs),
    async close() {
      await watch.close()
      await upstreams.close()
    },
  }
}

/** A server that is at fault now stays as it was. */
async function takeOver(loaded: LoadedUpstreams, upstreams: Upstreams, report: Report): Promise<void> {
  const broken = loaded.faulty.map(({ server }) => server)
  const all = broken.includes('')
  const kept = upstreams
    .describe()
    .filter(
      ({ server }) => (all || broken.includes(server)) && !loaded.servers.some(({ name }) => name === server),
    )
    .flatMap(({ server }) => upstreams.find(server)?.server ?? [])
  report(loaded, new Set(kept.map(({ name }) => name)))
  await upstreams.take([...loaded.servers, ...kept])
}

function noServer(name: string): string {
  return `There is no MCP server "${name}".`
}

function noneOf(tenant: string, server: string): string {
  return `The tenant "${tenant}" has no MCP server "${server}".`
}

function notTakenOver(error: unknown): string {
  const why = messageOf(error)
  return `What changed in the file of MCP servers could not be taken over: ${why} It is tried again when the file changes once more.`
}

/** Tells what is wrong with a version of the file. The entries of the servers that are `kept` stay in force as they were. */
type Report = (loaded: LoadedUpstreams, kept: ReadonlySet<string>) => void

function createReport(host: FeedHost): Report {
  const told = new Set<string>()
  const sayOnce = (message: string): void => {
    if (told.has(message)) return
    told.add(message)
    host.report('mcp', message)
  }
  return ({ faulty, notices }, kept) => {
    for (const { server, issues } of faulty) {
      const all = issues.map(({ pointer, message }) => `${pointer}: ${message}`).join(' ')
      host.report('mcp', `${describeFaulty(server, kept)} ${all}`)
    }
    for (const notice of notices) sayOnce(notice)
  }
}

function describeFaulty(server: string, kept: ReadonlySet<string>): string {
  if (server === '') {
    const others = kept.size === 0 ? '' : ' Its servers stay as they were.'
    return `The file of MCP servers cannot be used.${others}`
  }
  return kept.has(server)
    ? `The new entry of the MCP server "${server}" cannot be used, and the one before stays in force.`
    : `The MCP server "${server}" is left out, the others are not.`
}
