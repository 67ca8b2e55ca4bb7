import { printFault } from '../../../library/create-runtime.ts'
import { mcpTools, type McpServerState, type McpState } from '../../../library/mcp-tools.ts'
import { exitCodes } from '../../exit-codes.ts'
import { writeJson, writeText } from '../../show-safely.ts'
import { findPlaces, wireRuntime } from '../../wire.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** Connects to every MCP server, and says where each stands and why; exit code 1 where any is of no use. */
export const statusVerb: ToolsVerb = {
  options: [],
  takes: 0,
  async run(given) {
    const places = findPlaces(given)
    const feed = mcpTools({ path: places.mcp, meet: false })
    const runtime = await wireRuntime(places, undefined, { upstreams: feed, onFault: printOther })
    try {
      const state = await feed.look()
      const held = new Set(runtime.registry.held().map(({ tool }) => tool))
      if (given.options['json'] === true) writeJson(toWire(state, held))
      else writeText(process.stdout, toPage(state, { held, path: places.mcp }))
      const isWell = state.faulty.length === 0 && state.servers.every(({ fault }) => fault === undefined)
      return isWell ? exitCodes.ok : exitCodes.toolError
    } finally {
      await runtime.close()
    }
  },
}

/** What there is to say of servers stands on the page. */
function printOther(fault: Parameters<typeof printFault>[0]): void {
  if (!fault.tool.startsWith('mcp')) printFault(fault)
}

function toWire({ servers, faulty, notices }: McpState, held: ReadonlySet<string>) {
  return {
    servers: servers.map((server) => ({
      server: server.server,
      source: server.source,
      state: stateOf(server),
      revision: server.revision ?? null,
      tools: server.tools,
      held: server.tools.filter((tool) => held.has(tool)),
      left_out: server.faulty,
      fault: server.fault ?? null,
      remedy: server.remedy ?? null,
      log: server.log,
    })),
    faulty,
    notices,
  }
}

function toPage(
  { servers, faulty, notices }: McpState,
  about: { held: ReadonlySet<string>; path: string },
): string {
  if (servers.length === 0 && faulty.length === 0) return `There is no MCP server in "${about.path}".\n`
  return [
    ...servers.flatMap((server) => toRows(server, about.held)),
    ...faulty.flatMap(({ server, faults }) => [
      `${server === '' ? about.path : server}  left out`,
      ...faults.map(({ pointer, message }) => (pointer === '' ? `  ${message}` : `  ${pointer}: ${message}`)),
    ]),
    ...notices,
    '',
  ].join('\n')
}

/** One that failed is tried again meanwhile, which changes nothing yet. */
function stateOf({ state, fault }: McpServerState): McpServerState['state'] {
  return state === 'connecting' && fault !== undefined ? 'failed' : state
}

/** Where in a program something went wrong is for its authors. */
const isFrame = /^\s+at /

function toRows(server: McpServerState, held: ReadonlySet<string>): string[] {
  const waiting = server.tools.filter((tool) => held.has(tool))
  const count = server.tools.length === 1 ? '1 tool' : `${server.tools.length} tools`
  const revision = server.revision === undefined ? '' : `, ${server.revision}`
  return [
    `${server.server}  ${stateOf(server)}${revision}, ${count}`,
    ...(server.fault === undefined ? [] : [`  ${server.fault}`]),
    ...(server.remedy === undefined ? [] : server.remedy.split('\n').map((line) => `  ${line}`)),
    ...server.faulty.map(({ tool, message }) => `  ${tool} is left out: ${message}`),
    ...(waiting.length === 0
      ? []
      : [`  changed, and waiting for "handrail mcp review": ${waiting.join(', ')}`]),
    ...(server.fault === undefined || server.log === ''
      ? []
      : [
          '  it said:',
          ...server.log
            .split('\n')
            .filter((line) => line.trim() !== '' && !isFrame.test(line))
            .slice(-10)
            .map((line) => `    ${line}`),
        ]),
  ]
}
