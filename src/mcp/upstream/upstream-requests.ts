import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import { longestMs } from '../../kit/time/longest-ms.ts'
import { toSourceName } from './base/tool-names.ts'
import type { Upstream } from './base/upstream.ts'
import { callServer } from './call-server.ts'
import { findBoundConnection } from './open-direct-connection.ts'
import { callOver } from './requests/call-over.ts'
import { sendOver } from './requests/send-over.ts'
import type { TenantConnections } from './tenant-connections.ts'

export interface UpstreamRequestsOptions {
  readonly server: UpstreamServer
  readonly host: FeedHost
  readonly connections: TenantConnections
  /** Called with the tenant of each call. */
  readonly onCall: (tenant: string) => void
}

type UpstreamRequests = Pick<Upstream, 'offer' | 'refusal' | 'call' | 'ask' | 'resourcesVersion'>

/** What tenants ask of a server, each over its own connection. */
export function createUpstreamRequests({
  server,
  host,
  connections,
  onCall,
}: UpstreamRequestsOptions): UpstreamRequests {
  const source = toSourceName(server.name)
  return {
    offer: (tenant, tool) => connections.offer(tenant, tool),
    refusal: (tenant) => connections.find(tenant)?.managed.refusal(),
    async call(tool, input, call) {
      const { principal, asker } = call
      const { tenant, actor } = principal
      host.refuseIfPaused({ source, tenant, actor })
      const own = findBoundConnection(connections, asker.caller)
      const route = own ?? connections.of(tenant)
      onCall(tenant)
      const guard = (): void => call.guard(own?.offer(tool) ?? connections.offer(tenant, tool))
      return callServer({ server, ...route }, { tool, input }, { ...call, guard })
    },
    async ask({ method, params, signal, tool, asker, principal: { tenant, actor } }) {
      host.refuseIfPaused({ source, tenant, actor })
      const { managed, questions } = connections.of(tenant)
      const options = { signal, timeout: longestMs, allowInputRequired: true }
      return sendOver((connection) => callOver(connection, { method, params, options, server, asker }), {
        server: server.name,
        managed,
        signal,
        tool,
        asking: { asker, questions },
      })
    },
    resourcesVersion: (tenant) => connections.find(tenant)?.resources ?? 0,
  }
}
