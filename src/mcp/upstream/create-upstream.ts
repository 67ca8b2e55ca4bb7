import type { Progress } from '@modelcontextprotocol/client'
import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { DirectConnection } from '../../contract/mcp/direct-connection.ts'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import { longestMs } from '../../kit/time/longest-ms.ts'
import type { Packages } from '../packages/open-packages.ts'
import { findPackage } from './base/find-package.ts'
import { adviseOnFault } from './base/advise-on-fault.ts'
import { callOver } from './requests/call-over.ts'
import { createOutageTeller } from './tell-outage.ts'
import { createManagedConnection, type ManagedConnection } from './connection/create-managed-connection.ts'
import { logInAt } from './log-in-at.ts'
import { openLogins, type LoginWays } from './login/open-logins.ts'
import { findDataFolder } from './base/data-folder.ts'
import { findLiteralSecrets } from './find-literal-secrets.ts'
import { allWritable, findUnwritable } from './find-unwritable.ts'
import { followTask, isTaskOnly } from './tools/follow-task.ts'
import { recallTool, type ImportedTool } from './base/import-tool.ts'
import { findBoundConnection, openDirectConnection } from './open-direct-connection.ts'
import type { Connection } from './connection/open-connection.ts'
import { sendOver } from './requests/send-over.ts'
import { sortTools } from './tools/sort-tools.ts'
import { isLost, isUnknownSession, toDownFailure, toTaskFailure } from './base/to-call-failure.ts'
import { readParamHeaders, toParamHeaders } from './requests/param-headers.ts'
import { isWanted } from './tools/to-imported-definition.ts'
import { toSourceName } from './base/tool-names.ts'
import { createToolsInPlace } from './tools/tools-in-place.ts'
import { createQuestions, type Questions } from './base/questions.ts'
import { toTool } from './tools/to-tool.ts'
import type { ConnectionState, Upstream } from './base/upstream.ts'

interface TenantConnection {
  readonly managed: ManagedConnection
  /** What the server offers to this tenant: digests by its own names. */
  offers: ReadonlyMap<string, string> | undefined
  /** How often it said that it has other resources. */
  resources: number
  readonly questions: Questions
}

/** What a server is connected to with. */
export interface UpstreamOptions extends LoginWays {
  /** Canonical names of the tools that it had before the operator said something else of it. Default: none. */
  readonly before?: readonly string[] | undefined
  /** Where the programs of servers keep their data. Default: nowhere. */
  readonly folder?: string | undefined
  /** Default: the command of a program fetches what it runs, if it does. */
  readonly packages?: Packages | undefined
  /** Told when the tenant that it is connected to for first calls it, at least the first time. */
  readonly onCall?: () => void
}

/** A server without a connection yet. */
export function createUpstream(
  server: UpstreamServer,
  host: FeedHost,
  { before = [], folder, packages, onCall, ...loginWays }: UpstreamOptions,
): Upstream {
  const source = toSourceName(server.name)
  host.hide(`entry ${source}`, findLiteralSecrets(server))
  const logins = openLogins(server, host, loginWays)
  const connections = new Map<string, TenantConnection>()
  const tellOutage = createOutageTeller(source, host)
  const direct = new Set<DirectConnection>()
  let closed = false
  const firstTenant = server.tenants?.[0] ?? 'local'

  const wanted = findPackage(server)
  let unwritable = allWritable
  let isCalled = false
  const takeTools = async (tenant: string, raw: readonly unknown[]): Promise<void> => {
    const sorted = sortTools(server, raw)
    const found = connections.get(tenant)
    if (found !== undefined) found.offers = new Map(sorted.tools.map(({ rawName, seen }) => [rawName, seen]))
    if (tenant === firstTenant) await inPlace.place(sorted)
  }
  const demandOpen = (): void => {
    if (closed)
      throw toDownFailure(server.name, new Error('The operator says something else of it by now.'), 0)
  }
  const connectionOf = (tenant: string): TenantConnection => {
    demandOpen()
    let found = connections.get(tenant)
    if (found === undefined) {
      const questions = createQuestions(server, (message) => host.report(source, message))
      const managed = createManagedConnection({
        login: logins.of(tenant),
        answer: (method, params, signal) => questions.answer(method, params, signal),
        server,
        host,
        tenant,
        folder,
        packages,
        onTools: (raw) => takeTools(tenant, raw),
        onResourcesChanged: () => void own.resources++,
        onOutage: (fault) => tellOutage(tenant, fault),
      })
      const own: TenantConnection = { managed, offers: undefined, resources: 0, questions }
      connections.set(tenant, (found = own))
    }
    return found
  }
  const inPlace = createToolsInPlace({
    server,
    host,
    before,
    toTool: (imported) => toTool(imported, upstream),
  })
  const upstream: Upstream = {
    server,
    source,
    isKnown: host.knowsOf(source),
    async recall() {
      const known = host.remembered(source).flatMap((definition) => recallTool(definition) ?? [])
      await inPlace.place({
        tools: known.filter(({ rawName }) => isWanted(server, rawName)),
        faulty: [],
        recalled: true,
      })
    },
    async refresh() {
      const { managed } = connectionOf(firstTenant)
      await managed.wake()
      await managed.open()
    },
    async examine() {
      unwritable = await findUnwritable(server, host, firstTenant).catch(() => allWritable)
    },
    offer(tenant, { rawName, seen }) {
      const offers = connections.get(tenant)?.offers
      if (offers === undefined) return 'unknown'
      const offered = offers.get(rawName)
      return offered === undefined ? 'gone' : offered === seen ? 'same' : 'changed'
    },
    refusal: (tenant) => connections.get(tenant)?.managed.refusal(),
    async call(tool, input, { tenant, signal, onProgress, asker, guard }) {
      const own = findBoundConnection(upstream, asker.caller)
      const found = own ?? connectionOf(tenant)
      const { managed } = found
      if (!isCalled && tenant === firstTenant) {
        isCalled = true
        onCall?.()
      }
      const params = { name: tool.rawName, arguments: input }
      const options = {
        signal,
        timeout: longestMs,
        allowInputRequired: true,
        onprogress: ({ progress, total, message }: Progress) =>
          onProgress({
            done: progress,
            ...(total !== undefined && { total }),
            ...(message !== undefined && { message }),
          }),
      }
      const work = async (connection: Connection) => {
        const { client, era } = connection
        const headers = era === 'modern' ? headersOf(server, tool, input) : undefined
        const asTask = era === 'legacy' && isTaskOnly(tool)
        const answer = await callOver(client, {
          method: 'tools/call',
          params: asTask ? { ...params, task: {} } : params,
          options: { ...options, ...headers },
          binding: own?.binding,
          server,
          asker,
        })
        if (!asTask) return answer
        // What is thrown here must not make anybody send the call again: the task runs.
        return followTask(client, answer, options).catch((error: unknown) => {
          if (!signal.aborted && (isLost(error) || isUnknownSession(error))) managed.drop(connection)
          throw toTaskFailure(error, { server: server.name, tool: tool.name })
        })
      }
      return sendOver(work, {
        server: server.name,
        managed,
        signal,
        tool: tool.name,
        asking: { asker, questions: found.questions },
        advise: (said) => adviseOnFault(said, server),
        guard: () => guard(own?.offer(tool) ?? upstream.offer(tenant, tool)),
      })
    },
    async ask({ method, params, signal, tool, asker }, tenant) {
      const { managed, questions } = connectionOf(tenant)
      const options = { signal, timeout: longestMs, allowInputRequired: true }
      return sendOver(({ client }) => callOver(client, { method, params, options, server, asker }), {
        server: server.name,
        managed,
        signal,
        tool,
        asking: { asker, questions },
      })
    },
    resourcesVersion: (tenant) => connections.get(tenant)?.resources ?? 0,
    openDirectConnection(end) {
      demandOpen()
      const connection = openDirectConnection({
        server,
        login: logins.of(end.tenant),
        host,
        folder,
        packages,
        end,
        owner: upstream,
        seen: (name) => inPlace.seen(name),
        send: (managed, work, signal) =>
          sendOver(work, { server: server.name, managed, signal, tool: source }),
        onOpen: () => connections.get(end.tenant)?.managed.wake(),
        onClose: () => direct.delete(connection),
      })
      direct.add(connection)
      return connection
    },
    async update() {
      demandOpen()
      if (wanted === undefined || packages === undefined) return undefined
      const updated = await packages.update(wanted.command, { tenant: firstTenant, hosts: wanted.hosts })
      for (const { managed } of connections.values()) managed.restart()
      return updated
    },
    describe: () => ({
      ...(connections.get(firstTenant)?.managed.describe() ?? idle),
      server: server.name,
      source,
      tenant: firstTenant,
      isKnown: upstream.isKnown || inPlace.names().length > 0,
      tools: inPlace.names(),
      faulty: inPlace.faulty(),
      toolNotes: inPlace.notes(),
      unwritable,
      idlePatterns: inPlace.idle(),
      data:
        server.transport.kind === 'stdio'
          ? findDataFolder({ server, host, tenant: firstTenant, folder })
          : undefined,
      package:
        wanted === undefined || packages === undefined
          ? undefined
          : {
              specs: wanted.command.specs,
              fetching: packages.isFetching(wanted.command, firstTenant),
              pin: packages.pinOf(wanted.command, firstTenant),
            },
    }),
    async login(tenant, person) {
      demandOpen()
      const facts = await logInAt({ server, host, tenant, login: logins.of(tenant) }, person)
      const { managed } = connectionOf(tenant)
      await managed.wake()
      await managed.open().catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error)
        throw new Error(`What came of it is kept and is of no use yet: ${why}`)
      })
      return facts
    },
    async logout(tenant) {
      return (await logins.of(tenant)?.forget()) ?? false
    },
    async close({ remove } = { remove: false }) {
      closed = true
      logins.close()
      await Promise.all(
        [...[...connections.values()].map(({ managed }) => managed), ...direct].map((each) => each.close()),
      )
      for (const tenant of connections.keys()) tellOutage(tenant, undefined)
      connections.clear()
      if (remove) await inPlace.place({ tools: [], faulty: [] })
    },
  }
  return upstream
}

const idle: ConnectionState = {
  state: 'idle',
  revision: undefined,
  fault: undefined,
  remedy: undefined,
  log: '',
}

/** Arguments that proxies on the way to a server go by. */
function headersOf({ transport }: UpstreamServer, { said }: ImportedTool, input: JsonObject) {
  const read = transport.kind === 'http' ? readParamHeaders(said.inputSchema) : undefined
  if (read === undefined || !('headers' in read) || read.headers.length === 0) return undefined
  return { headers: toParamHeaders(read.headers, input) }
}
