import { SetupError } from '../../contract/base/errors.ts'
import type { Issue } from '../../contract/base/json.ts'
import type { ServerConnections } from '../../contract/mcp/direct-connection.ts'
import type { Authorize, LoginFacts } from '../../contract/mcp/login.ts'
import type { ToolFeed } from '../../contract/mcp/tool-feed.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { withinMs } from '../../kit/time/within-ms.ts'
import type { PackageUpdate } from '../../mcp/packages/open-packages.ts'
import type { Upstream, UpstreamState } from '../../mcp/upstream/base/upstream.ts'
import { toRedirectUrl } from '../../mcp/upstream/login/redirect-url.ts'
import type { Upstreams } from '../../mcp/upstream/open-upstreams.ts'
import { followServers, readServers } from './follow-servers.ts'
import type { McpToolsOptions } from './mcp-tools-options.ts'

export type { McpToolsOptions } from './mcp-tools-options.ts'
export type { PackageUpdate as McpPackageUpdate } from '../../mcp/packages/open-packages.ts'
export type { UpstreamState as McpServerState } from '../../mcp/upstream/base/upstream.ts'

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
export interface McpFeed extends McpTools, ServerConnections {
  /** Whether the file that is followed says by now what is still to be taken over. */
  isBehind(): boolean
}

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
  const file = readServers(options)
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
    const { faulty, notices } = file.current
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
    isBehind: () => file.isBehind(),
    serversOf: (tenant) =>
      (opened?.describe() ?? [])
        .map(({ server }) => server)
        .filter((name) => ownOf(tenant, name) !== undefined),
    login: async (name, about) => logIn(find(name, about.tenant ?? 'local'), about),
    async update(name) {
      const upstream = opened?.find(name)
      if (upstream === undefined) throw new SetupError('unknown_server', `There is no MCP server "${name}".`)
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
    open: (host) => followServers(host, { options, file, onOpened: (upstreams) => (opened = upstreams) }),
  }
}

async function logIn(
  upstream: Upstream,
  { tenant = 'local', authorize, redirectUrl }: McpLoginOptions,
): Promise<LoginFacts> {
  const { server } = upstream
  try {
    return await upstream.login(tenant, { authorize, redirectUrl: redirectUrl ?? toRedirectUrl(server) })
  } catch (error) {
    const why = messageOf(error)
    throw new SetupError('login_failed', `No login was made at "${server.name}". ${why}`)
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

function noneOf(tenant: string, server: string): string {
  return `The tenant "${tenant}" has no MCP server "${server}".`
}
