import type { Progress } from '@modelcontextprotocol/client'
import type { FeedHost } from '../../contract/tool-feed.ts'
import type { Tool } from '../../contract/tool.ts'
import type { JsonObject } from '../../contract/json.ts'
import type { ServerLine } from '../../contract/server-line.ts'
import type { UpstreamServer } from '../../contract/upstream.ts'
import { canonicalJson } from '../../kit/canonical-json.ts'
import { digest } from '../../kit/digest.ts'
import { callOver } from './call-over.ts'
import { createOutageTeller } from './tell-outage.ts'
import { createLink, type Link } from './create-link.ts'
import { logInAt } from './login/log-in-at.ts'
import { openLogins, type LoginWays } from './login/open-logins.ts'
import { withLogin } from './login/with-login.ts'
import { followTask, isTaskOnly } from './follow-task.ts'
import { importTool, recallTool, type FaultyTool, type ImportedTool } from './import-tool.ts'
import { openLine, type Carried } from './open-line.ts'
import type { Connection } from './open-connection.ts'
import { isLost, isUnknownSession, toCallFailure, toDownFailure, toTaskFailure } from './to-call-failure.ts'
import { readParamHeaders, toParamHeaders } from './param-headers.ts'
import { fieldsOfServers, isWanted } from './to-definition.ts'
import { toSourceName } from './tool-names.ts'
import { createQuestions, type Asker, type Questions } from './questions.ts'
import { toTool } from './to-tool.ts'
import type { LinkState, Upstream } from './upstream.ts'

interface Way {
  readonly link: Link
  /** What the server offers to this tenant: digests by its own names. */
  offers: ReadonlyMap<string, string> | undefined
  /** How often it said that it has other resources. */
  resources: number
  readonly questions: Questions
}

/** The time limit of the call ends it. */
const longestMs = 2_147_483_647

/** What a server is connected to with. */
export interface UpstreamOptions extends LoginWays {
  /** Canonical names of the tools that it had before the operator said something else of it. Default: none. */
  readonly before?: readonly string[] | undefined
}

/** A server that nobody has connected to yet. */
export function createUpstream(
  server: UpstreamServer,
  host: FeedHost,
  { before = [], ...loginWays }: UpstreamOptions,
): Upstream {
  const source = toSourceName(server.name)
  const logins = openLogins(server, host, loginWays)
  const ways = new Map<string, Way>()
  const tellOutage = createOutageTeller(source, host)
  /** Calls that go over a line of their client's own, by the id of the call. */
  const carried = new Map<string, Carried>()
  const lines = new Set<ServerLine>()
  /** By canonical name, with the digests of their definitions. */
  let inPlace = new Map<string, { tool: Tool; seen: string }>()
  /** What the tools in place were made from: digests by canonical name. */
  let imported: ReadonlyMap<string, string> = new Map()
  let inherited = before
  let faulty: readonly FaultyTool[] = []
  let placing: Promise<void> = Promise.resolve()
  let closed = false
  const firstTenant = server.tenants?.[0] ?? 'local'

  const place = (sorted: SortedTools): Promise<void> => {
    const done = placing.then(() => replace(sorted))
    placing = done.catch(() => {})
    return done
  }
  const replace = async ({
    tools: sortedTools,
    faulty: faultyNow,
    recalled = false,
  }: SortedTools): Promise<void> => {
    const news = canonicalJson(faultyNow) === canonicalJson(faulty) ? [] : faultyNow
    const next = new Map<string, { tool: Tool; seen: string }>()
    for (const each of sortedTools) {
      const tool = toTool(each, upstream)
      const seen = digest(canonicalJson(tool.definition))
      const before = inPlace.get(each.name)
      next.set(each.name, before?.seen === seen ? before : { tool, seen })
    }
    const changed = [...next].filter(([name, { tool }]) => inPlace.get(name)?.tool !== tool)
    const removed = [...inherited, ...inPlace.keys()].filter((name) => !next.has(name))
    if (changed.length > 0 || removed.length > 0 || news.length > 0)
      await host.change({
        source: { id: source, kind: 'mcp', pinnedFields: fieldsOfServers, supersedes: true, recalled },
        tools: changed.map(([, { tool }]) => tool),
        faulty: news,
        removed,
        tenants: server.tenants,
      })
    inPlace = next
    imported = new Map(sortedTools.map(({ name, seen }) => [name, seen]))
    inherited = []
    faulty = faultyNow
  }
  const takeTools = async (tenant: string, raw: readonly unknown[]): Promise<void> => {
    const sorted = sortTools(server, raw)
    const way = ways.get(tenant)
    if (way !== undefined) way.offers = new Map(sorted.tools.map(({ rawName, seen }) => [rawName, seen]))
    if (tenant === firstTenant) await place(sorted)
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
        onTools: (raw) => takeTools(tenant, raw),
        onResourcesChanged: () => void own.resources++,
        onOutage: (fault) => tellOutage(tenant, fault),
      })
      const own: Way = { link, offers: undefined, resources: 0, questions }
      ways.set(tenant, (way = own))
    }
    return way
  }
  /** A server that lost its session did nothing of what it was asked, so that it can be asked again. */
  const withConnection = <T>(link: Link, work: (connection: Connection) => Promise<T>): Promise<T> =>
    withLogin(link.login, () => withSession(link, work))
  const withSession = async <T>(link: Link, work: (connection: Connection) => Promise<T>): Promise<T> => {
    const connection = await link.open()
    try {
      return await work(connection)
    } catch (error) {
      if (isUnknownSession(error)) {
        link.drop(connection)
        return work(await link.open())
      }
      throw error
    }
  }
  const send = async (
    work: (connection: Connection) => Promise<Record<string, unknown>>,
    { link, signal, tool, guard, questions, asker }: Sending,
  ): Promise<Record<string, unknown>> => {
    let used: Connection | undefined
    try {
      return await withConnection(link, (connection) => {
        guard?.()
        used = connection
        if (asker !== undefined) questions?.join(asker)
        return work(connection)
      })
    } catch (error) {
      if (used === undefined || signal.aborted) throw error
      if (isLost(error)) link.drop(used)
      throw toCallFailure(error, { server: server.name, tool })
    } finally {
      if (asker !== undefined) questions?.leave(asker)
    }
  }
  const upstream: Upstream = {
    server,
    source,
    isKnown: host.remembered(source).length > 0,
    async recall() {
      const known = host.remembered(source).flatMap((definition) => recallTool(definition) ?? [])
      await place({
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
      return send(work, {
        link,
        signal,
        tool: tool.name,
        questions: 'questions' in way ? way.questions : undefined,
        asker,
        guard: () => guard(own?.standing(tool) ?? upstream.standing(tenant, tool)),
      })
    },
    async ask({ method, params, signal, tool, asker }, tenant) {
      const { link, questions } = wayOf(tenant)
      const options = { signal, timeout: longestMs, allowInputRequired: true }
      return send(({ client }) => callOver(client, { method, params, options, server, asker }), {
        link,
        signal,
        tool,
        questions,
        asker,
      })
    },
    resourcesVersion: (tenant) => ways.get(tenant)?.resources ?? 0,
    openLine(end) {
      demandOpen()
      const line = openLine({
        server,
        login: logins.of(end.tenant),
        host,
        end,
        carried,
        seen: (name) => imported.get(name),
        send: (link, work, signal) => send(work, { link, signal, tool: source }),
        onOpen: () => ways.get(end.tenant)?.link.wake(),
        onClose: () => lines.delete(line),
      })
      lines.add(line)
      return line
    },
    describe: () => ({
      ...(ways.get(firstTenant)?.link.describe() ?? idle),
      server: server.name,
      source,
      isKnown: upstream.isKnown || inPlace.size > 0,
      tools: [...inPlace.keys()],
      faulty,
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
      if (remove) await place({ tools: [], faulty: [] })
    },
  }
  return upstream
}

/** What goes with a request. */
interface Sending {
  readonly link: Link
  readonly signal: AbortSignal
  readonly tool: string
  readonly guard?: () => void
  /** What the server asks on this link meanwhile, and whom. */
  readonly questions?: Questions | undefined
  readonly asker?: Asker
}

const idle: LinkState = { state: 'idle', revision: undefined, fault: undefined, remedy: undefined, log: '' }

interface SortedTools {
  readonly tools: readonly ImportedTool[]
  readonly faulty: readonly FaultyTool[]
  /** As they are remembered. */
  readonly recalled?: boolean
}

/** Arguments that proxies on the way to a server go by. */
function headersOf({ transport }: UpstreamServer, { said }: ImportedTool, input: JsonObject) {
  const read = transport.kind === 'http' ? readParamHeaders(said.inputSchema) : undefined
  if (read === undefined || !('headers' in read) || read.headers.length === 0) return undefined
  return { headers: toParamHeaders(read.headers, input) }
}

/** A tool whose headers could not be sent as its server means them is none. */
function checkHeaders(
  { transport }: UpstreamServer,
  imported: ImportedTool | FaultyTool,
): ImportedTool | FaultyTool {
  if (transport.kind !== 'http' || 'message' in imported) return imported
  const read = readParamHeaders(imported.said.inputSchema)
  return 'message' in read ? { tool: imported.name, message: read.message } : imported
}

/** The tools that the operator wants, and what is none. Of two with one name the first is taken. */
function sortTools(server: UpstreamServer, raw: readonly unknown[]): SortedTools {
  const tools = new Map<string, ImportedTool>()
  const faulty: FaultyTool[] = []
  for (const each of raw) {
    const imported = checkHeaders(server, importTool(server.name, each))
    if ('message' in imported) faulty.push(imported)
    else if (tools.has(imported.name))
      faulty.push({
        tool: imported.name,
        message: 'Its server has two tools of this name; the first is taken.',
      })
    else if (isWanted(server, imported.rawName)) tools.set(imported.name, imported)
  }
  return { tools: [...tools.values()], faulty }
}
