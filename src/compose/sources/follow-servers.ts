import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  loadUpstreams,
  readUpstreams,
  reloadUpstreams,
  type LoadedUpstreams,
} from '../../config/servers/load-upstreams.ts'
import { createLoginFiles } from '../../config/servers/login-files.ts'
import { watchUpstreams } from '../../config/servers/watch-upstreams.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { FeedHost, OpenFeed } from '../../contract/mcp/tool-feed.ts'
import { canonicalJson } from '../../kit/json/canonical-json.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { createMemoryTokenStore } from '../../mcp/upstream/login/memory-token-store.ts'
import type { Upstreams } from '../../mcp/upstream/open-upstreams.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import type { McpToolsOptions } from './mcp-tools-options.ts'

/** The servers of a file, or of a program, as they are in force. */
export interface ServerFile {
  readonly path: string
  current: LoadedUpstreams
  /** Reads the file again, beside what is in force. */
  reload(): LoadedUpstreams
  /** Whether what it says is being taken over. */
  isChanging: boolean
  /** Whether it says something by now that is not taken over yet. */
  isBehind(): boolean
}

/** Reads which servers there are. Throws a SetupError if `servers` has an issue. */
export function readServers({ path = defaultPath(), servers }: McpToolsOptions): ServerFile {
  const about = { checker: createSchemaChecker(), home: homedir() }
  const current = servers === undefined ? loadUpstreams(path, about) : readUpstreams(servers, about)
  const issues = current.faulty.flatMap(({ issues: each }) => each)
  if (servers !== undefined && issues.length > 0)
    throw new SetupError('invalid_options', 'These servers of mcpTools cannot be used:', issues)
  const file: ServerFile = {
    path,
    current,
    reload: () => reloadUpstreams(path, file.current, about),
    isChanging: false,
    isBehind: () =>
      servers === undefined &&
      (file.isChanging || canonicalJson(file.reload()) !== canonicalJson(file.current)),
  }
  return file
}

function defaultPath(): string {
  return join(homedir(), '.handrail', 'mcp.json')
}

/** Connects to the servers, and follows their file if that is asked for. */
export async function followServers(
  host: FeedHost,
  about: { options: McpToolsOptions; file: ServerFile; onOpened: (upstreams: Upstreams) => void },
): Promise<OpenFeed> {
  const { options, file, onOpened } = about
  const { servers, follow = false, meet = true } = options
  const folderOf = (name: string) => (servers === undefined ? join(dirname(file.path), name) : undefined)
  const report = createReport(host)
  report(file.current, new Set())
  if (file.current.servers.length === 0 && !follow) return empty
  const { openUpstreams } = await import('../../mcp/upstream/open-upstreams.ts')
  const logins = options.logins?.dir ?? folderOf('mcp-tokens')
  const upstreams = openUpstreams(host, {
    meet: typeof meet === 'function' ? meet : () => meet,
    tokenStore: logins === undefined ? createMemoryTokenStore() : createLoginFiles(logins),
    authorize: options.authorize,
    folder: options.data?.dir ?? folderOf('servers'),
    homes: options.data?.homes,
    // What lives for one call would start programs for nothing.
    ahead: follow,
  })
  onOpened(upstreams)
  await upstreams.replace(file.current.servers)
  if (!follow || servers !== undefined) return upstreams
  return withWatch(
    upstreams,
    watchUpstreams({
      path: file.path,
      load: () => file.reload(),
      current: file.current,
      async onChange(loaded) {
        file.current = loaded
        file.isChanging = true
        try {
          await takeOver(loaded, upstreams, report)
        } finally {
          file.isChanging = false
        }
      },
      onFailure: (error) => host.report('mcp', notTakenOver(error)),
    }),
  )
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
async function takeOver(loaded: LoadedUpstreams, upstreams: Upstreams, report: Report): Promise<void> {
  const broken = loaded.faulty.map(({ server }) => server)
  const all = broken.includes('')
  const kept = upstreams
    .describe()
    .filter(
      ({ server }) => (all || broken.includes(server)) && !loaded.servers.some(({ name }) => name === server),
    )
    .flatMap(({ server }) => upstreams.find(server)?.server ?? [])
  report(loaded, new Set(kept.map(({ name }) => name)))
  await upstreams.replace([...loaded.servers, ...kept])
}

function notTakenOver(error: unknown): string {
  const why = messageOf(error)
  return `What changed in the file of MCP servers could not be taken over: ${why} It is tried again when the file changes once more.`
}

/** Tells what is wrong with a version of the file. The entries of the servers that are `kept` stay in force as they were. */
type Report = (loaded: LoadedUpstreams, kept: ReadonlySet<string>) => void

function createReport(host: FeedHost): Report {
  const told = new Set<string>()
  const sayOnce = (message: string): void => {
    if (told.has(message)) return
    told.add(message)
    host.report('mcp', message)
  }
  return ({ faulty, notices }, kept) => {
    for (const { server, issues } of faulty) {
      const all = issues.map(({ pointer, message }) => `${pointer}: ${message}`).join(' ')
      host.report('mcp', `${describeFaulty(server, kept)} ${all}`)
    }
    for (const notice of notices) sayOnce(notice)
  }
}

function describeFaulty(server: string, kept: ReadonlySet<string>): string {
  if (server === '') {
    const others = kept.size === 0 ? '' : ' Its servers stay as they were.'
    return `The file of MCP servers cannot be used.${others}`
  }
  return kept.has(server)
    ? `The new entry of the MCP server "${server}" cannot be used, and the one before stays in force.`
    : `The MCP server "${server}" is left out, the others are not.`
}
