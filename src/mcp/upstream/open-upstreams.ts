import type { FeedHost, OpenFeed } from '../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { withinMs } from '../../kit/time/within-ms.ts'
import { openPackages } from '../packages/open-packages.ts'
import { openCalledServers } from './called-servers.ts'
import { createUpstream } from './create-upstream.ts'
import type { LoginWays } from './login/open-logins.ts'
import { createResourceTools } from './tools/resource-tools.ts'
import type { Upstream, UpstreamState } from './base/upstream.ts'

/** All servers of a runtime. */
export interface Upstreams extends OpenFeed {
  /** Takes these servers in the place of those before: new ones come, those that are not there go, changed ones are connected anew. */
  take(servers: readonly UpstreamServer[]): Promise<void>
  find(name: string): Upstream | undefined
  describe(): readonly UpstreamState[]
  /** Another number as soon as one of them said to this tenant that it has other resources. */
  resourcesVersion(tenant: string): number
  /** Connects to every server and takes the tools that it has now; never rejects. Tells of each as soon as it is known. */
  refresh(onKnown?: (state: UpstreamState) => void): Promise<void>
}

/** A server that is connected to when it is its turn. */
interface Waiting {
  readonly upstream: Upstream
  readonly onKnown?: ((state: UpstreamState) => void) | undefined
}

/** Servers that are met for the first time at once. */
const meetAtOnce = 8
/** One that takes longer keeps those behind it from nothing. */
const patienceMs = 3_000

/** What servers are connected to with. */
export interface UpstreamsOptions extends LoginWays {
  /** Which of those that were never seen before are connected to at once, by name. */
  readonly meet: (server: string) => boolean
  /** Where the programs of servers keep their data. Undefined: nowhere. */
  readonly folder: string | undefined
  /** Whether programs that the run before called are started at once, so that no first call waits for one. */
  readonly ahead: boolean
}

/** No servers yet. */
export function openUpstreams(host: FeedHost, { meet, folder, ahead, ...ways }: UpstreamsOptions): Upstreams {
  const packages = folder === undefined ? undefined : openPackages(host, folder)
  const called = folder === undefined || !ahead ? undefined : openCalledServers(folder)
  const upstreams = new Map<string, Upstream>()
  const meeting = new Set<Promise<void>>()
  const queue: Waiting[] = []
  let busy = 0
  let hasTools = false

  const refresh = async ({ upstream, onKnown }: Waiting): Promise<void> => {
    // The link that tried reports why the server does not answer.
    await upstream.refresh().catch(() => {})
    if (onKnown === undefined) return
    await upstream.examine()
    onKnown(upstream.describe())
  }
  const next = (): void => {
    while (busy < meetAtOnce) {
      const waiting = queue.shift()
      if (waiting === undefined) return
      busy++
      const work: Promise<void> = refresh(waiting).finally(() => meeting.delete(work))
      meeting.add(work)
      void goOnAfter(work)
    }
  }
  const goOnAfter = async (work: Promise<void>): Promise<void> => {
    await withinMs(work, patienceMs)
    busy--
    next()
  }
  const offerResources = async (): Promise<void> => {
    if (hasTools || upstreams.size === 0) return
    hasTools = true
    await host.change({
      source: { id: 'builtin.mcp', kind: 'builtin', recalled: true },
      tools: createResourceTools({
        find: (name) => upstreams.get(name),
        list: () => [...upstreams.values()],
      }),
      faulty: [],
      removed: [],
      tenants: undefined,
    })
  }
  const all: Upstreams = {
    async take(servers) {
      const wanted = new Map(servers.map((server) => [server.name, server]))
      const before = new Map<string, readonly string[]>()
      for (const [name, upstream] of upstreams) {
        const server = wanted.get(name)
        if (server !== undefined && canonicalJson(server) === canonicalJson(upstream.server)) continue
        upstreams.delete(name)
        const waiting = queue.findIndex((each) => each.upstream === upstream)
        if (waiting >= 0) queue.splice(waiting, 1)
        const remove = server === undefined || hasOtherTenants(server, upstream.server)
        if (!remove) before.set(name, upstream.describe().tools)
        await upstream.close({ remove })
      }
      for (const server of servers) {
        if (upstreams.has(server.name)) continue
        const upstream = createUpstream(server, host, {
          before: before.get(server.name),
          folder,
          packages,
          onCall: () => called?.note(server.name),
          ...ways,
        })
        upstreams.set(server.name, upstream)
        const isKnown = upstream.isKnown
        await upstream.recall()
        if (!meet(server.name)) continue
        if (!isKnown) queue.push({ upstream })
        // The caller does not wait for it: its tools are remembered.
        else if (server.transport.kind === 'stdio' && called?.wasCalled(server.name) === true)
          void refresh({ upstream })
      }
      await offerResources()
      next()
    },
    find: (name) => upstreams.get(name),
    describe: () => [...upstreams.values()].map((upstream) => upstream.describe()),
    resourcesVersion(tenant) {
      let sum = upstreams.size
      for (const upstream of upstreams.values()) sum += upstream.resourcesVersion(tenant)
      return sum
    },
    async refresh(onKnown) {
      // Those that wait are among all.
      queue.length = 0
      for (const upstream of upstreams.values()) queue.push({ upstream, onKnown })
      next()
      await idle()
    },
    async settled(longestMs) {
      if (meeting.size === 0) return
      await withinMs(idle(), longestMs)
    },
    async close() {
      queue.length = 0
      const fetched = packages?.close()
      await Promise.all([...upstreams.values()].map((upstream) => upstream.close()))
      await fetched
      await Promise.all(meeting)
    },
  }
  const idle = async (): Promise<void> => {
    while (meeting.size > 0) await Promise.all(meeting)
  }
  return all
}

function hasOtherTenants(after: UpstreamServer, before: UpstreamServer): boolean {
  return canonicalJson(after.tenants ?? null) !== canonicalJson(before.tenants ?? null)
}
