import type { Progress } from '@modelcontextprotocol/client'
import type { FeedHost } from '../../contract/mcp/tool-feed.ts'
import type { JsonObject } from '../../contract/base/json.ts'
import type { ServerLine } from '../../contract/mcp/server-line.ts'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import { longestMs } from '../../kit/time/longest-ms.ts'
import type { Packages } from '../packages/open-packages.ts'
import { findPackage } from './base/find-package.ts'
import { adviseOnFault } from './base/advise-on-fault.ts'
import { callOver } from './requests/call-over.ts'
import { createOutageTeller } from './tell-outage.ts'
import { createLink, type Link } from './connection/create-link.ts'
import { logInAt } from './log-in-at.ts'
import { openLogins, type LoginWays } from './login/open-logins.ts'
import { findDataFolder } from './base/data-folder.ts'
import { findLiteralSecrets } from './find-literal-secrets.ts'
import { allWritable, findUnwritable } from './find-unwritable.ts'
import { followTask, isTaskOnly } from './tools/follow-task.ts'
import { recallTool, type ImportedTool } from './base/import-tool.ts'
import { openLine, type Carried } from './open-line.ts'
import type { Connection } from './connection/open-connection.ts'
import { sendOver } from './requests/send-over.ts'
import { sortTools } from './tools/sort-tools.ts'
import { isLost, isUnknownSession, toDownFailure, toTaskFailure } from './base/to-call-failure.ts'
import { readParamHeaders, toParamHeaders } from './requests/param-headers.ts'
import { isWanted } from './tools/to-definition.ts'
import { toSourceName } from './base/tool-names.ts'
import { createToolsInPlace } from './tools/tools-in-place.ts'
import { createQuestions, type Questions } from './base/questions.ts'
import { toTool } from './tools/to-tool.ts'
import type { LinkState, Upstream } from './base/upstream.ts'

interface Way {
  readonly link: Link
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
  const ways = new Map<string, Way>()
  const tellOutage = createOutageTeller(source, host)
  /** Calls that go over a line of their client's own, by the id of the call. */
  const carried = new Map<string, Carried>()
  const lines = new Set<ServerLine>()
  let closed = false
  const firstTenant = server.tenants?.[0] ?? 'local'

  const wanted = findPackage(server)
  let unwritable = allWritable
  let isCalled = false
  const takeTools = async (tenant: string, raw: readonly unknown[]): Promise<void> => {
    const sorted = sortTools(server, raw)
    const way = ways.get(tenant)
    if (way !== undefined) way.offers = new Map(sorted.tools.map(({ rawName, seen }) => [rawName, seen]))
    if (tenant === firstTenant) await inPlace.place(sorted)
  }
  const demandOpen = (): void => {
    if (closed)
      throw toDownFailure(server.name, new Error('The operator says something else of it by now.'), 0)
  }
  const wayOf = (tenant: string): Way => {
    demandOpen()
    let way = ways.get(tenant)
    if (way === undefined) {
      const questions = createQuestions(server, (message) => host.report(source, message))
      const link = createLink({
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
      const own: Way = { link, offers: undefined, resources: 0, questions }
      ways.set(tenant, (way = own))
    }
    return way
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
      const { link } = wayOf(firstTenant)
      await link.wake()
      await link.open()
    },
    async examine() {
      unwritable = await findUnwritable(server, host, firstTenant).catch(() => allWritable)
    },
    standing(tenant, { rawName, seen }) {
      const offers = ways.get(tenant)?.offers
      if (offers === undefined) return 'unknown'
      const offered = offers.get(rawName)
      return offered === undefined ? 'gone' : offered === seen ? 'same' : 'changed'
    },
    refusal: (tenant) => ways.get(tenant)?.link.refusal(),
    async call(tool, input, { tenant, toolCallId, signal, onProgress, asker, guard }) {
      const own = carried.get(toolCallId)
      const way = own ?? wayOf(tenant)
      const { link } = way
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
          load: own?.load,
          server,
          asker,
        })
        if (!asTask) return answer
        // What is thrown here must not make anybody send the call again: the task runs.
        return followTask(client, answer, options).catch((error: unknown) => {
          if (!signal.aborted && (isLost(error) || isUnknownSession(error))) link.drop(connection)
          throw toTaskFailure(error, { server: server.name, tool: tool.name })
        })
      }
      return sendOver(work, {
        server: server.name,
        link,
        signal,
        tool: tool.name,
        asking: { asker, questions: way.questions },
        advise: (said) => adviseOnFault(said, server),
        guard: () => guard(own?.standing(tool) ?? upstream.standing(tenant, tool)),
      })
    },
    async ask({ method, params, signal, tool, asker }, tenant) {
      const { link, questions } = wayOf(tenant)
      const options = { signal, timeout: longestMs, allowInputRequired: true }
      return sendOver(({ client }) => callOver(client, { method, params, options, server, asker }), {
        server: server.name,
        link,
        signal,
        tool,
        asking: { asker, questions },
      })
    },
    resourcesVersion: (tenant) => ways.get(tenant)?.resources ?? 0,
    openLine(end) {
      demandOpen()
      const line = openLine({
        server,
        login: logins.of(end.tenant),
        host,
        folder,
        packages,
        end,
        carried,
        seen: (name) => inPlace.seen(name),
        send: (link, work, signal) => sendOver(work, { server: server.name, link, signal, tool: source }),
        onOpen: () => ways.get(end.tenant)?.link.wake(),
        onClose: () => lines.delete(line),
      })
      lines.add(line)
      return line
    },
    async update() {
      demandOpen()
      if (wanted === undefined || packages === undefined) return undefined
      const updated = await packages.update(wanted.command, { tenant: firstTenant, hosts: wanted.hosts })
      for (const { link } of ways.values()) link.restart()
      return updated
    },
    describe: () => ({
      ...(ways.get(firstTenant)?.link.describe() ?? idle),
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
      const { link } = wayOf(tenant)
      await link.wake()
      await link.open().catch((error: unknown) => {
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
      await Promise.all([...[...ways.values()].map(({ link }) => link), ...lines].map((each) => each.close()))
      for (const tenant of ways.keys()) tellOutage(tenant, undefined)
      ways.clear()
      if (remove) await inPlace.place({ tools: [], faulty: [] })
    },
  }
  return upstream
}

const idle: LinkState = { state: 'idle', revision: undefined, fault: undefined, remedy: undefined, log: '' }

/** Arguments that proxies on the way to a server go by. */
function headersOf({ transport }: UpstreamServer, { said }: ImportedTool, input: JsonObject) {
  const read = transport.kind === 'http' ? readParamHeaders(said.inputSchema) : undefined
  if (read === undefined || !('headers' in read) || read.headers.length === 0) return undefined
  return { headers: toParamHeaders(read.headers, input) }
}
