import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import type { Packages } from '../packages/open-packages.ts'
import type { ImportedTool } from './base/import-tool.ts'
import { createQuestions, type Questions } from './base/questions.ts'
import { toDownFailure } from './base/to-call-failure.ts'
import { toSourceName } from './base/tool-names.ts'
import type { Offer } from './base/upstream.ts'
import { createManagedConnection, type ManagedConnection } from './connection/create-managed-connection.ts'
import type { Logins } from './login/open-logins.ts'
import { createOutageReporter } from './report-outage.ts'
import { sortTools, type SortedTools } from './tools/sort-tools.ts'

export interface TenantConnection {
  readonly managed: ManagedConnection
  readonly questions: Questions
  /** How often the server reported that it has other resources. */
  resources: number
  /** What the server offers to this tenant: digests by its own names. Undefined: it was not asked yet. */
  offers: ReadonlyMap<string, string> | undefined
}

/** The connections of tenants to one server. */
export interface TenantConnections {
  /** The connection of a tenant, which may not be open yet. Throws as `requireOpen` does. */
  of(tenant: string): TenantConnection
  /** Undefined if the tenant needed none so far. */
  find(tenant: string): TenantConnection | undefined
  /** What the server offers to a tenant in the place of a tool. */
  offer(tenant: string, tool: ImportedTool): Offer
  /** Throws if all are closed. */
  requireOpen(): void
  restart(): void
  close(): Promise<void>
}

export interface TenantConnectionsOptions {
  readonly server: UpstreamServer
  readonly host: FeedHost
  readonly logins: Logins
  readonly folder: string | undefined
  readonly packages: Packages | undefined
  /** Called with the tools that the server offers to a tenant. The promise is awaited. */
  readonly onTools: (tenant: string, tools: SortedTools) => Promise<void>
}

export function createTenantConnections({
  onTools,
  logins,
  ...about
}: TenantConnectionsOptions): TenantConnections {
  const { server, host } = about
  const source = toSourceName(server.name)
  const connections = new Map<string, TenantConnection>()
  const reportOutage = createOutageReporter(source, host)
  let closed = false

  const requireOpen = (): void => {
    if (closed)
      throw toDownFailure(server.name, new Error('The operator says something else of it by now.'), 0)
  }
  const create = (tenant: string): TenantConnection => {
    const questions = createQuestions(server, (message) => host.report(source, message))
    const managed = createManagedConnection({
      ...about,
      tenant,
      login: logins.of(tenant),
      answer: (method, params, signal) => questions.answer(method, params, signal),
      onTools(raw) {
        const sorted = sortTools(server, raw, (said) => host.redactJson(said))
        created.offers = new Map(sorted.tools.map(({ rawName, seen }) => [rawName, seen]))
        return onTools(tenant, sorted)
      },
      onResourcesChanged: () => void created.resources++,
      onOutage: (fault) => reportOutage(tenant, fault),
    })
    const created: TenantConnection = { managed, questions, resources: 0, offers: undefined }
    return created
  }
  return {
    of(tenant) {
      requireOpen()
      const found = connections.get(tenant) ?? create(tenant)
      connections.set(tenant, found)
      return found
    },
    find: (tenant) => connections.get(tenant),
    offer(tenant, { rawName, seen }) {
      const offers = connections.get(tenant)?.offers
      if (offers === undefined) return 'unknown'
      const offered = offers.get(rawName)
      return offered === undefined ? 'gone' : offered === seen ? 'same' : 'changed'
    },
    requireOpen,
    restart() {
      for (const { managed } of connections.values()) managed.restart()
    },
    async close() {
      closed = true
      await Promise.all([...connections.values()].map(({ managed }) => managed.close()))
      for (const tenant of connections.keys()) reportOutage(tenant, undefined)
      connections.clear()
    },
  }
}
