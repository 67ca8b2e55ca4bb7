import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import type { Packages } from '../packages/open-packages.ts'
import { findDataFolder } from './base/data-folder.ts'
import { findPackage } from './base/find-package.ts'
import { recallTool, type ImportedTool } from './base/import-tool.ts'
import { toSourceName } from './base/tool-names.ts'
import type { ConnectionState, PackageState, Upstream } from './base/upstream.ts'
import { createDirectConnections } from './direct-connections.ts'
import { findLiteralSecrets } from './find-literal-secrets.ts'
import { allWritable, findUnwritable } from './find-unwritable.ts'
import { logInAt } from './log-in-at.ts'
import { openLogins, type LoginWays } from './login/open-logins.ts'
import { createTenantConnections } from './tenant-connections.ts'
import { isWanted } from './tools/to-imported-definition.ts'
import { createUpstreamRequests } from './upstream-requests.ts'
import { toTool } from './tools/to-tool.ts'
import { createToolsInPlace } from './tools/tools-in-place.ts'

/** What a server is connected to with. */
export interface UpstreamOptions extends LoginWays {
  /** Canonical names of the tools that it had before the operator said something else of it. Default: none. */
  readonly before?: readonly string[] | undefined
  /** Where the programs of servers keep their data. Default: nowhere. */
  readonly folder?: string | undefined
  /** Where they keep it this time, whatever is described. Default: there. */
  readonly homes?: string | undefined
  /** Default: the command of a program fetches what it runs, if it does. */
  readonly packages?: Packages | undefined
  /** Called with each call of the tenant that it is connected to for first. */
  readonly onCall?: () => void
}

/** A server without a connection yet. */
export function createUpstream(
  server: UpstreamServer,
  host: FeedHost,
  { before = [], folder, homes = folder, packages, onCall, ...loginWays }: UpstreamOptions,
): Upstream {
  const source = toSourceName(server.name)
  host.hide(`entry ${source}`, findLiteralSecrets(server))
  const logins = openLogins(server, host, loginWays)
  const firstTenant = server.tenants?.[0] ?? 'local'
  const wanted = findPackage(server)
  let unwritable = allWritable
  const shared = { server, host, logins, folder: homes, packages }
  const connections = createTenantConnections({
    ...shared,
    onTools: async (tenant, sorted) => {
      if (tenant === firstTenant) await inPlace.place(sorted)
    },
  })
  const inPlace = createToolsInPlace({
    server,
    host,
    before,
    toTool: (imported) => toTool(imported, upstream),
  })
  const reconnect = async (tenant: string): Promise<void> => {
    const { managed } = connections.of(tenant)
    await managed.wake()
    await managed.open()
  }
  const meet = (): Promise<void> => upstream.refresh().catch(() => {})
  const direct = createDirectConnections({ ...shared, connections, seen: inPlace.seen, meet })
  const upstream: Upstream = {
    server,
    source,
    isKnown: host.knowsOf(source),
    recall: () => inPlace.place({ tools: recallTools(server, host), faulty: [], recalled: true }),
    refresh: () => reconnect(firstTenant),
    async examine() {
      unwritable = await findUnwritable(server, host, firstTenant).catch(() => allWritable)
    },
    ...createUpstreamRequests({
      ...shared,
      connections,
      onCall: (tenant) => void (tenant === firstTenant && onCall?.()),
    }),
    openDirectConnection: (end) => direct.open(end),
    async update() {
      connections.requireOpen()
      if (wanted === undefined || packages === undefined) return undefined
      const updated = await packages.update(wanted.command, { tenant: firstTenant, hosts: wanted.hosts })
      connections.restart()
      return updated
    },
    describe: () => ({
      ...(connections.find(firstTenant)?.managed.describe() ?? idle),
      ...describeSetup({ ...shared, folder }, firstTenant),
      isKnown: upstream.isKnown || inPlace.names().length > 0,
      ...inPlace.describe(),
      unwritable,
    }),
    async login(tenant, person) {
      connections.requireOpen()
      const facts = await logInAt({ server, host, tenant, login: logins.of(tenant) }, person)
      await reconnect(tenant).catch((error: unknown) => {
        throw new Error(`What came of it is kept and is of no use yet: ${messageOf(error)}`)
      })
      return facts
    },
    logout: async (tenant) => (await logins.of(tenant)?.forget()) ?? false,
    async close({ remove } = { remove: false }) {
      logins.close()
      await Promise.all([connections.close(), direct.close()])
      if (remove) await inPlace.place({ tools: [], faulty: [] })
    },
  }
  return upstream
}

const idle: ConnectionState = {
  state: 'idle',
  revision: undefined,
  fault: undefined,
  wantsLogin: false,
  remedy: undefined,
  log: '',
  wants: {},
  refused: [],
}

/** The tools that the runtime remembers of a server, and that the operator wants. */
function recallTools(server: UpstreamServer, host: FeedHost): ImportedTool[] {
  return host
    .remembered(toSourceName(server.name))
    .flatMap((definition) => recallTool(definition) ?? [])
    .filter(({ rawName }) => isWanted(server, rawName))
}

/** What is known of a server without a connection to it. */
function describeSetup({ server, host, folder, packages }: Setup, tenant: string) {
  const isProgram = server.transport.kind === 'stdio'
  return {
    server: server.name,
    source: toSourceName(server.name),
    tenant,
    data: isProgram ? findDataFolder({ server, host, tenant, folder }) : undefined,
    package: describePackage(server, packages, tenant),
  }
}

interface Setup extends Pick<UpstreamOptions, 'folder' | 'packages'> {
  readonly server: UpstreamServer
  readonly host: FeedHost
}

function describePackage(
  server: UpstreamServer,
  packages: Packages | undefined,
  tenant: string,
): PackageState | undefined {
  const wanted = findPackage(server)
  if (wanted === undefined || packages === undefined) return undefined
  const { command } = wanted
  return {
    specs: command.specs,
    fetching: packages.isFetching(command, tenant),
    pin: packages.pinOf(command, tenant),
  }
}
