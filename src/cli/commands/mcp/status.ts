import { printError } from '../../../compose/error-log.ts'
import type { Runtime } from '../../../contract/runtime.ts'
import { mcpTools, type McpServerState, type McpState } from '../../../compose/sources/mcp-tools.ts'
import { describeIdlePattern } from '../../../mcp/upstream/base/idle-patterns.ts'
import { quoteArgv } from '../../../kit/text/quote-argv.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { findRegistered, lookAtServers, type Look } from '../../setup/look-at-servers.ts'
import { writeJson, writeText } from '../../base/show-safely.ts'
import { findPlaces, wireRuntime } from '../../setup/wire.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** Connects to every MCP server, and says where each stands and why, as soon as it is known; exit code 1 where any is of no use. */
export const statusVerb: ToolsVerb = {
  async run(given) {
    const places = findPlaces(given)
    const feed = mcpTools({ path: places.mcp, meet: false })
    /** Tools that the runtime took not, with why. */
    const refused = new Map<string, string>()
    const runtime = await wireRuntime(places, undefined, {
      upstreams: feed,
      onError(error) {
        if (!error.tool.startsWith('mcp')) printError(error)
        else refused.set(error.tool, error.cause instanceof Error ? error.cause.message : String(error.cause))
      },
    })
    const seen = (server: McpServerState): McpServerState => leaveOut(server, refused, runtime.registry)
    const held = (): ReadonlySet<string> => new Set(runtime.registry.pending().map(({ tool }) => tool))
    const isJson = given.options['json'] === true
    const print = (rows: readonly string[]): void => {
      if (!isJson && rows.length > 0) writeText(process.stdout, `${rows.join('\n')}\n`)
    }
    try {
      print(toFirstRows(feed.describe(), places.mcp))
      const look = await lookAtServers(given, feed, (server) => print(toRows(seen(server), held())))
      const late = look.servers.filter(({ server }) => look.late.includes(server))
      print(late.flatMap(toLateRows))
      if (isJson) writeJson(toWire({ ...look, servers: look.servers.map(seen) }, held()))
      const isWell =
        late.length === 0 &&
        look.faulty.length === 0 &&
        look.servers.every(({ fault }) => fault === undefined)
      return isWell ? exitCodes.ok : exitCodes.toolError
    } finally {
      await runtime.close()
    }
  },
}

/** A tool with an issue in its definition is none of the server's that can be called. */
function leaveOut(
  server: McpServerState,
  refused: ReadonlyMap<string, string>,
  registry: Runtime['registry'],
): McpServerState {
  const tools = findRegistered(server, registry)
  const missing = server.tools.filter((tool) => !tools.includes(tool))
  const faulty = missing.map((tool) => ({
    tool,
    message: refused.get(tool) ?? 'The registry did not take it.',
  }))
  return { ...server, tools, faulty: [...server.faulty, ...faulty] }
}

function toWire({ servers, faulty, notices, late }: Look, held: ReadonlySet<string>) {
  return {
    servers: servers.map((server) => ({
      server: server.server,
      source: server.source,
      state: late.includes(server.server) ? 'connecting' : stateOf(server),
      revision: server.revision ?? null,
      tools: server.tools,
      held: server.tools.filter((tool) => held.has(tool)),
      left_out: server.faulty,
      notes: server.toolNotes,
      unwritable: server.unwritable.folders,
      idle_patterns: server.idlePatterns,
      fault: server.fault ?? null,
      remedy: server.remedy ?? null,
      package: server.package ?? null,
      data: server.data ?? null,
      log: server.log,
    })),
    faulty,
    notices,
  }
}

const example =
  '  handrail mcp add docs --read /srv/docs -- npx -y @modelcontextprotocol/server-filesystem /srv/docs'
const entry =
  '  {"mcpServers": {"docs": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/srv/docs"], "read": ["/srv/docs"]}}}'

/** What is known before anything is connected to. */
function toFirstRows({ servers, faulty, notices }: McpState, path: string): string[] {
  if (servers.length === 0 && faulty.length === 0)
    return [
      `There is no MCP server in "${path}". One is added like this:`,
      example,
      `Or as an entry of that file:`,
      entry,
    ]
  return [
    ...faulty.flatMap(({ server, issues }) => [
      `${server === '' ? path : server}  left out`,
      ...issues.map(({ pointer, message }) => (pointer === '' ? `  ${message}` : `  ${pointer}: ${message}`)),
    ]),
    ...notices,
  ]
}

/** One that failed is tried again meanwhile, which changes nothing yet. */
function stateOf({ state, fault }: McpServerState): McpServerState['state'] {
  return state === 'connecting' && fault !== undefined ? 'failed' : state
}

function toRows(server: McpServerState, held: ReadonlySet<string>): string[] {
  const waiting = server.tools.filter((tool) => held.has(tool))
  const revision = server.revision === undefined ? '' : `, ${server.revision}`
  return [
    `${server.server}  ${stateOf(server)}${revision}, ${countTools(server)}`,
    ...(server.fault === undefined ? [] : [`  ${server.fault}`]),
    ...toAdvice(server),
    ...server.faulty.map(({ tool, message }) => `  ${tool} is left out: ${message}`),
    ...server.toolNotes.map(({ tool, message }) => `  ${tool}: ${message}`),
    ...toUnwritable(server),
    ...server.idlePatterns.map((idle) => `  ${describeIdlePattern(idle)}`),
    ...(waiting.length === 0
      ? []
      : [`  changed, and waiting for "handrail mcp review": ${waiting.join(', ')}`]),
    ...(server.fault === undefined ? [] : toSaid(server)),
    ...(server.fault === undefined ? toPlaces(server) : []),
  ]
}

/** What is started, and what of it stays. */
function toPlaces({ server, package: fetched, data }: McpServerState): string[] {
  const { versions = [], notes = [], at = 0 } = fetched?.pin ?? {}
  const names = versions.map(({ name, version }) => `${name} ${version}`).join(', ')
  return [
    ...(names === ''
      ? []
      : [
          `  runs ${names}, pinned on ${new Date(at).toISOString().slice(0, 10)}: handrail mcp update ${server}`,
        ]),
    ...notes.map((note) => `  ${note}`),
    ...(data === undefined ? [] : [`  keeps its data in ${data}`]),
  ]
}

function toLateRows(server: McpServerState): string[] {
  if (server.package?.fetching === true)
    return [
      `${server.server}  fetching its package, ${countTools(server)}`,
      '  It is fetched anew the next time. To wait for it: handrail mcp status',
    ]
  return [
    `${server.server}  connecting, ${countTools(server)}`,
    '  It has not answered yet. To wait longer for it: handrail mcp status --timeout 2m',
    ...toAdvice(server),
    ...toSaid(server),
  ]
}

function countTools({ tools, fault }: McpServerState): string {
  const count = tools.length === 1 ? '1 tool' : `${tools.length} tools`
  // They are remembered, and cannot be called.
  return tools.length > 0 && fault !== undefined ? `none of its ${count} listed` : count
}

function toUnwritable({ unwritable: { folders, user } }: McpServerState): string[] {
  if (folders.length === 0) return []
  return [
    `  Its program runs as "${user}", who cannot write to ${folders.map((folder) => `"${folder}"`).join(', ')}. To let them:`,
    `    chown -R ${user} ${quoteArgv(folders)}`,
  ]
}

function toAdvice({ remedy }: McpServerState): string[] {
  return remedy === undefined ? [] : remedy.split('\n').map((line) => `  ${line}`)
}

/** Where in a program something went wrong is for its authors. */
const isFrame = /^\s+at |^node:|^\s*throw |^\s*\^+$|^Node\.js v|^\s+(code|requireStack): |^\s*[{}[\],]+$/
const mostLines = 10

function toSaid({ log }: McpServerState): string[] {
  const lines = log.split('\n').filter((line) => line.trim() !== '' && !isFrame.test(line))
  return lines.length === 0 ? [] : ['  it said:', ...lines.slice(-mostLines).map((line) => `    ${line}`)]
}
