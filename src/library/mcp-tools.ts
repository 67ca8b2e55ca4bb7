import { homedir } from 'node:os'
import { join } from 'node:path'
import { loadUpstreams, readUpstreams, type LoadedUpstreams } from '../config/load-upstreams.ts'
import { watchUpstreams } from '../config/watch-upstreams.ts'
import { SetupError } from '../contract/errors.ts'
import type { ServerLines } from '../contract/server-line.ts'
import type { FeedHost, OpenFeed, ToolFeed } from '../contract/tool-feed.ts'
import type { Upstreams } from '../mcp/upstream/open-upstreams.ts'
import type { UpstreamState } from '../mcp/upstream/upstream.ts'
import { createSchemaChecker } from '../schema/create-schema-checker.ts'

/** Which MCP servers there are: those of a file, or those that are handed over in the shape of that file. */
export interface McpToolsOptions {
  /** Default `~/.handrail/mcp.json`. Never a file of a project: whoever may write there could declare what runs. */
  path?: string
  /** What stands under `mcpServers` of such a file. Takes its place. */
  servers?: Readonly<Record<string, unknown>>
  /** Whether changes of the file are taken over while the runtime lives. Default false. */
  follow?: boolean
  /** Whether servers that were never seen before are connected to at once, to learn their tools. Default true. */
  meet?: boolean
}

/** The tools of MCP servers. */
export interface McpTools extends ToolFeed, ServerLines {
  /** Connects to every server, takes the tools that it has now, and says where each stands. Only while a runtime has it. */
  look(): Promise<McpState>
}

/** Where one server stands. */
export type McpServerState = UpstreamState

/** Where all servers stand. */
export interface McpState {
  readonly servers: readonly McpServerState[]
  /** What of the file cannot be used; `''` stands for the file itself. */
  readonly faulty: LoadedUpstreams['faulty']
  /** What of the file is left out although nothing is wrong with it. */
  readonly notices: readonly string[]
}

/**
 * The tools of MCP servers as `mcp.<server>.<tool>`. A server is connected to when it is first seen, and then when one of its tools is
 * called; what it said of its tools is remembered in the store, and a change of that waits for an approval. A server of the file that
 * is at fault is reported and left out; with `servers` it throws a SetupError. A `${NAME}` in `env` or `headers` is a secret of the runtime.
 */
export function mcpTools(options: McpToolsOptions = {}): McpTools {
  const { path = join(homedir(), '.handrail', 'mcp.json'), servers, follow = false, meet = true } = options
  const about = { checker: createSchemaChecker(), home: homedir() }
  const load = (): LoadedUpstreams =>
    servers === undefined ? loadUpstreams(path, about) : readUpstreams(servers, about)
  const current = load()
  const faults = current.faulty.flatMap(({ faults: each }) => each)
  if (servers !== undefined && faults.length > 0)
    throw new SetupError('invalid_options', 'These servers of mcpTools cannot be used:', faults)
  let opened: Upstreams | undefined
  return {
    id: 'mcp',
    async look() {
      await opened?.refresh()
      const { faulty, notices } = current
      return { servers: opened?.describe() ?? [], faulty, notices }
    },
    serversOf: (tenant) =>
      (opened?.describe() ?? [])
        .map(({ server }) => server)
        .filter((name) => opened?.find(name)?.server.tenants?.includes(tenant) ?? true),
    openLine(name, end) {
      const upstream = opened?.find(name)
      if (upstream === undefined) throw new Error(`There is no MCP server "${name}".`)
      return upstream.openLine(end)
    },
    async open(host) {
      const report = createReport(host)
      report(current)
      if (current.servers.length === 0 && !follow) return empty
      const { openUpstreams } = await import('../mcp/upstream/open-upstreams.ts')
      const upstreams = openUpstreams(host, { meet })
      opened = upstreams
      await upstreams.take(current.servers)
      if (!follow || servers !== undefined) return upstreams
      return withWatch(
        upstreams,
        watchUpstreams({ path, load, current, onChange: (loaded) => takeOver(loaded, upstreams, report) }),
      )
    },
  }
}

const empty: OpenFeed = { settled: async () => {}, close: async () => {} }

function withWatch(upstreams: Upstreams, watch: { close(): Promise<void> }): OpenFeed {
  return {
    settled: (withinMs) => upstreams.settled(withinMs),
    async close() {
      await watch.close()
      await upstreams.close()
    },
  }
}

/** A server that is at fault now stays as it was. */
async function takeOver(
  loaded: LoadedUpstreams,
  upstreams: Upstreams,
  report: (loaded: LoadedUpstreams) => void,
): Promise<void> {
  report(loaded)
  const broken = loaded.faulty.map(({ server }) => server)
  const all = broken.includes('')
  const kept = upstreams
    .describe()
    .filter(
      ({ server }) => (all || broken.includes(server)) && !loaded.servers.some(({ name }) => name === server),
    )
    .flatMap(({ server }) => upstreams.find(server)?.server ?? [])
  await upstreams.take([...loaded.servers, ...kept])
}

/** Says once what is wrong. */
function createReport(host: FeedHost): (loaded: LoadedUpstreams) => void {
  const told = new Set<string>()
  const say = (source: string, message: string): void => {
    if (told.has(message)) return
    told.add(message)
    host.report(source, message)
  }
  return ({ faulty, notices }) => {
    for (const { server, faults } of faulty) {
      const all = faults.map(({ pointer, message }) => `${pointer}: ${message}`).join(' ')
      say(
        'mcp',
        server === ''
          ? `The file of MCP servers cannot be used. ${all}`
          : `The MCP server "${server}" is left out, the others are not. ${all}`,
      )
    }
    for (const notice of notices) say('mcp', notice)
  }
}
