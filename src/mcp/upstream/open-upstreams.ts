import type { FeedHost, OpenFeed } from '../../contract/mcp/tool-feed.ts'
import type { UpstreamServer } from '../../contract/mcp/upstream.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { withinMs } from '../../kit/time/within-ms.ts'
import { openPackages } from '../packages/open-packages.ts'
import { openCalledServers } from './called-servers.ts'
import { createUpstream } from './create-upstream.ts'
import { createMeetings } from './meet-servers.ts'
import type { LoginWays } from './login/open-logins.ts'
import { createResourceTools } from './tools/resource-tools.ts'
import type { Upstream, UpstreamState } from './base/upstream.ts'

/** All servers of a runtime. */
export interface Upstreams extends OpenFeed {
  /** Takes these servers in the place of those before: new ones come, those that are not there go, changed ones are connected anew. */
  replace(servers: readonly UpstreamServer[]): Promise<void>
  find(name: string): Upstream | undefined
  describe(): readonly UpstreamState[]
  /** Another number as soon as one of them said to this tenant that it has other resources. */
  resourcesVersion(tenant: string): number
  /** Connects to every server and takes the tools that it has now; never rejects. Tells of each as soon as it is known. */
  refresh(onKnown?: (state: UpstreamState) => void): Promise<void>
}

/** What servers are connected to with. */
export interface UpstreamsOptions extends LoginWays {
  /** Which of those that were never seen before are connected to at once, by name. */
  readonly meet: (server: string) => boolean
  /** Where the programs of servers keep their data. Undefined: nowhere. */
  readonly folder: string | undefined
  /** Where they keep it this time, if not there: a trial leaves nothing, and finds nothing of a server with the same name. */
  readonly homes?: string | undefined
  /** Whether programs that the run before called are started at once, so that no first call waits for one. */
  readonly ahead: boolean
}

/** No servers yet. */
export function openUpstreams(host: FeedHost, { meet, folder, ahead, ...ways }: UpstreamsOptions): Upstreams {
  const packages = folder === undefined ? undefined : openPackages(host, folder)
  const called = folder === undefined || !ahead ? undefined : openCalledServers(folder)
  const upstreams = new Map<string, Upstream>()
  const meetings = createMeetings()
  let hasTools = false

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
  return {
    async replace(servers) {
      const wanted = new Map(servers.map((server) => [server.name, server]))
      const before = new Map<string, readonly string[]>()
      for (const [name, upstream] of upstreams) {
        const server = wanted.get(name)
        if (server !== undefined && canonicalJson(server) === canonicalJson(upstream.server)) continue
        upstreams.delete(name)
        meetings.remove(upstream)
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
        if (!isKnown) meetings.add({ upstream })
        // The caller does not wait for it: its tools are remembered.
        else if (server.transport.kind === 'stdio' && called?.wasCalled(server.name) === true)
          void meetings.meet({ upstream })
      }
      await offerResources()
      meetings.start()
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
      meetings.clear()
      for (const upstream of upstreams.values()) meetings.add({ upstream, onKnown })
      meetings.start()
      await meetings.ended()
    },
    async settled(longestMs) {
      await withinMs(meetings.ended(), longestMs)
    },
    async close() {
      meetings.clear()
      const fetched = packages?.close()
      await Promise.all([...upstreams.values()].map((upstream) => upstream.close()))
      await fetched
      await meetings.ended()
    },
  }
}

function hasOtherTenants(after: UpstreamServer, before: UpstreamServer): boolean {
  return canonicalJson(after.tenants ?? null) !== canonicalJson(before.tenants ?? null)
}
