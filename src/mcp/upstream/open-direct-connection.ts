import type { JsonObject } from '../../contract/base/json.ts'
import type {
  DirectClient,
  CallBinding,
  DirectConnection,
  InitializedServer,
} from '../../contract/mcp/direct-connection.ts'
import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import { isJsonObject, readJsonObject } from '../../kit/json/is-json-object.ts'
import type { Packages } from '../packages/open-packages.ts'
import { asIs } from './base/as-is.ts'
import { longestMs } from '../../kit/time/longest-ms.ts'
import { createManagedConnection, type ManagedConnection } from './connection/create-managed-connection.ts'
import { createSecretHiding, type SecretHiding } from './hide-secrets.ts'
import { importTool, type ImportedTool } from './base/import-tool.ts'
import type { Login } from './login/create-login.ts'
import type { Connection } from './connection/open-connection.ts'
import { createDirectQuestions, type Questions } from './base/questions.ts'
import { toToolName } from './base/tool-names.ts'
import type { Offer } from './base/upstream.ts'
import { isWanted } from './tools/to-imported-definition.ts'
import type { TenantConnections } from './tenant-connections.ts'

interface BoundConnection {
  readonly managed: ManagedConnection
  readonly binding: CallBinding
  /** What its server asks without naming a call. */
  readonly questions: Pick<Questions, 'join' | 'leave'>
  /** What the server says of the tool on this connection. */
  offer(tool: ImportedTool): Offer
}

/** The caller of a call that goes over a connection of its client's own. */
class BoundCall {
  readonly owner: TenantConnections
  readonly connection: BoundConnection

  constructor(owner: TenantConnections, connection: BoundConnection) {
    this.owner = owner
    this.connection = connection
  }
}

/** The direct connection to the same server that a caller calls over; undefined if it has none. */
export function findBoundConnection(owner: TenantConnections, caller: unknown): BoundConnection | undefined {
  return caller instanceof BoundCall && caller.owner === owner ? caller.connection : undefined
}

/** What a direct connection is opened with. */
export interface DirectConnectionOptions {
  readonly server: UpstreamServer
  readonly host: FeedHost
  /** Where the programs of servers keep their data. Undefined: nowhere. */
  readonly folder: string | undefined
  /** Undefined: the command of a program fetches what it runs, if it does. */
  readonly packages: Packages | undefined
  /** Undefined: no login. */
  readonly login: Login | undefined
  readonly end: DirectClient
  /** The connections of tenants to the same server. */
  readonly owner: TenantConnections
  /** What the tool of this canonical name was made from; undefined if there is none. */
  readonly seen: (name: string) => string | undefined
  /** Puts in place what the server has now, if no connection did so yet. Never rejects. */
  readonly meet: () => Promise<void>
  /** Asks over a connection; rejects with a `ToolFailure`. */
  readonly send: (
    managed: ManagedConnection,
    work: (connection: Connection) => Promise<JsonObject>,
    signal: AbortSignal,
  ) => Promise<JsonObject>
  /** Told with each list of tools that the server answers. What this returns is awaited. */
  readonly onOpen: () => Promise<void> | undefined
  readonly onClose: () => void
}

interface Offered {
  readonly name: string
  readonly seen: string
  readonly said: JsonObject
}

/** A direct connection that is not open yet. */
export function openDirectConnection({
  server,
  host,
  folder,
  packages,
  login,
  end,
  owner,
  seen,
  meet,
  send,
  onOpen,
  onClose,
}: DirectConnectionOptions): DirectConnection {
  const questions = createDirectQuestions(end.era === 'modern')
  const hiding = createSecretHiding(host)
  let closed = false
  let hasTools = false
  let offers: ReadonlyMap<string, Offered> = new Map()
  const managed = createManagedConnection({
    server,
    host,
    folder,
    packages,
    login,
    tenant: end.tenant,
    end: {
      ...end,
      // What belongs to a call goes with it; what belongs to the session goes to the client.
      notify(method, params) {
        const call = method === 'notifications/message' ? questions.current() : undefined
        ;(call ?? end).notify(method, hiding.said(params))
      },
    },
    answer: (method, params, signal) => questions.answer(method, params, signal),
    onTools: async (raw) => {
      const isNews = offers.size > 0
      hasTools = raw.length > 0
      offers = toOffers(server, raw, hiding)
      await onOpen()
      if (isNews) end.notify('notifications/tools/list_changed', {})
    },
  })
  const offer = ({ name, seen: before }: ImportedTool): Offer => {
    const offered = offers.get(name)
    return offered === undefined ? 'gone' : offered.seen === before ? 'same' : 'changed'
  }
  const isInPlace = (offered: Offered): boolean => seen(offered.name) === offered.seen
  return {
    server: server.name,
    initialize: async () => toInitialized(await managed.open(), host),
    async tools() {
      await managed.open()
      // This client may be the first to hear from the server, or from what it is now.
      if (![...offers.values()].every(isInPlace)) await meet()
      return [...offers.values()].filter(isInPlace)
    },
    async hasTools() {
      await managed.open()
      return hasTools
    },
    canonicalName: (tool) => toToolName(server.name, tool),
    bindCall(of) {
      const binding = hiding.bound(of)
      return new BoundCall(owner, { managed, binding, questions: questions.of(binding), offer })
    },
    ask(method, params, signal) {
      const options = { signal, timeout: longestMs, allowInputRequired: true }
      return hiding.answered(
        send(managed, ({ client }) => client.request({ method, params }, asIs, options), signal),
      )
    },
    isClosed: () => closed,
    async close() {
      closed = true
      onClose()
      await managed.close()
    },
  }
}

function toInitialized({ client, era }: Connection, host: FeedHost): InitializedServer {
  const capabilities = readJsonObject(client.getServerCapabilities())
  const instructions = client.getInstructions()
  return { era, capabilities, instructions: instructions && host.redact(instructions) }
}

/** The tools that the operator wants. */
function toOffers(
  server: UpstreamServer,
  raw: readonly unknown[],
  hiding: SecretHiding,
): Map<string, Offered> {
  const offers = new Map<string, Offered>()
  for (const each of raw) {
    const tool = importTool(server.name, each)
    if ('message' in tool || offers.has(tool.name) || !isJsonObject(each)) continue
    if (!isWanted(server, tool.rawName)) continue
    offers.set(tool.name, { name: tool.name, seen: tool.seen, said: hiding.said(each) })
  }
  return offers
}
