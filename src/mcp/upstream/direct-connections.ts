import type { DirectClient, DirectConnection } from '../../contract/mcp/direct-connection.ts'
import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import type { Packages } from '../packages/open-packages.ts'
import { toSourceName } from './base/tool-names.ts'
import type { Logins } from './login/open-logins.ts'
import { openDirectConnection } from './open-direct-connection.ts'
import { sendOver } from './requests/send-over.ts'
import type { TenantConnections } from './tenant-connections.ts'

/** The connections to one server that are each for one client alone. */
export interface DirectConnections {
  open(end: DirectClient): DirectConnection
  close(): Promise<void>
}

export interface DirectConnectionsOptions {
  readonly server: UpstreamServer
  readonly host: FeedHost
  readonly folder: string | undefined
  readonly packages: Packages | undefined
  readonly logins: Logins
  /** The connections that tenants have to the same server. */
  readonly connections: TenantConnections
  /** What the tool of this canonical name was made from; undefined if there is none. */
  readonly seen: (name: string) => string | undefined
  /** Puts in place what the server has now, if no connection did so yet. Never rejects: the connection reports why it does not answer. */
  readonly meet: () => Promise<void>
}

export function createDirectConnections(options: DirectConnectionsOptions): DirectConnections {
  const { server, logins, connections } = options
  const open = new Set<DirectConnection>()
  return {
    open(end) {
      connections.requireOpen()
      const connection = openDirectConnection({
        ...options,
        login: logins.of(end.tenant),
        end,
        owner: connections,
        async send(managed, work, signal) {
          const source = toSourceName(server.name)
          options.host.refuseIfPaused({ source, tenant: end.tenant, actor: end.actor })
          return sendOver(work, { server: server.name, managed, signal, tool: source })
        },
        onOpen: () => connections.find(end.tenant)?.managed.wake(),
        onClose: () => open.delete(connection),
      })
      open.add(connection)
      return connection
    },
    async close() {
      await Promise.all([...open].map((each) => each.close()))
    },
  }
}
