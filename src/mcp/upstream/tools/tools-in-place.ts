import type { FeedHost } from '../../../contract/mcp/tool-feed.ts'
import type { Tool } from '../../../contract/tool/tool.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import { digest } from '../../../kit/json/digest.ts'
import { describePlace } from '../base/describe-place.ts'
import { createTurns } from '../base/create-turns.ts'
import { describeIdlePattern, type IdlePattern } from '../base/idle-patterns.ts'
import type { FaultyTool, ImportedTool } from '../base/import-tool.ts'
import type { UpstreamState } from '../base/upstream.ts'
import type { SortedTools } from './sort-tools.ts'
import { fieldsOfServers } from './to-imported-definition.ts'
import { toSourceName } from '../base/tool-names.ts'

/** The tools of one server, as the runtime has them. */
export interface ToolsInPlace {
  /** Puts these in the place of those before, one change after the other. */
  place(sorted: SortedTools): Promise<void>
  /** Canonical. */
  names(): readonly string[]
  /** What the tool of this canonical name was made from; undefined if there is none. */
  seen(this: void, name: string): string | undefined
  describe(): Pick<UpstreamState, 'tools' | 'faulty' | 'toolNotes' | 'idlePatterns'>
}

/** What the tools of a server are put in place with. */
export interface ToolsInPlaceOptions {
  readonly server: UpstreamServer
  readonly host: FeedHost
  /** Canonical names of the tools that it had before the operator said something else of it. */
  readonly before: readonly string[]
  readonly toTool: (imported: ImportedTool) => Tool
}

/** None yet. */
export function createToolsInPlace({ server, host, before, toTool }: ToolsInPlaceOptions): ToolsInPlace {
  const id = toSourceName(server.name)
  const place = describePlace(server).join('\n')
  /** By canonical name, with the digests of their definitions. */
  let inPlace = new Map<string, { tool: Tool; seen: string }>()
  /** What they were made from: digests by canonical name. */
  let imported: ReadonlyMap<string, string> = new Map()
  let inherited = before
  let faulty: readonly FaultyTool[] = []
  let notes: readonly FaultyTool[] = []
  let idle: readonly IdlePattern[] = []
  const reported = new Set<string>()
  const inTurn = createTurns()

  /** Each once: what the server has may come and go. */
  const reportIdle = (): void => {
    for (const message of idle.map(describeIdlePattern)) {
      if (reported.has(message)) continue
      reported.add(message)
      host.report(id, message)
    }
  }
  const replace = async ({
    tools,
    faulty: faultyNow,
    notes: notesNow = [],
    idle: idleNow = [],
    recalled = false,
  }: SortedTools): Promise<void> => {
    const news = canonicalJson(faultyNow) === canonicalJson(faulty) ? [] : faultyNow
    const next = new Map<string, { tool: Tool; seen: string }>()
    for (const each of tools) {
      const tool = toTool(each)
      const seen = digest(canonicalJson(tool.definition))
      const current = inPlace.get(each.name)
      next.set(each.name, current?.seen === seen ? current : { tool, seen })
    }
    const changed = [...next].filter(([name, { tool }]) => inPlace.get(name)?.tool !== tool)
    const removed = [...inherited, ...inPlace.keys()].filter((name) => !next.has(name))
    if (changed.length > 0 || removed.length > 0 || news.length > 0)
      await host.change({
        source: {
          id,
          kind: 'mcp',
          place,
          pinnedFields: fieldsOfServers,
          supersedes: true,
          recalled,
          ...(server.defer !== undefined && { defer: server.defer }),
        },
        tools: changed.map(([, { tool }]) => tool),
        faulty: news,
        removed,
        tenants: server.tenants,
      })
    inPlace = next
    imported = new Map(tools.map(({ name, seen }) => [name, seen]))
    inherited = []
    faulty = faultyNow
    notes = notesNow
    idle = idleNow
    reportIdle()
  }
  return {
    place: (sorted) => inTurn(() => replace(sorted)),
    names: () => [...inPlace.keys()],
    seen: (name) => imported.get(name),
    describe: () => ({ tools: [...inPlace.keys()], faulty, toolNotes: notes, idlePatterns: idle }),
  }
}
