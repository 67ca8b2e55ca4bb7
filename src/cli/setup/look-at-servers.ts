import type { Runtime } from '../../contract/runtime.ts'
import type { McpServerState, McpState, McpTools } from '../../compose/sources/mcp-tools.ts'
import type { CommandLine } from '../base/command.ts'
import { readDuration } from '../arguments/read-duration.ts'
import { showLine, writeText } from '../base/show-safely.ts'

/** Where all servers stand, as far as they said so in time. */
export interface Look extends McpState {
  /** Names of those that did not. */
  readonly late: readonly string[]
}

const defaultTimeoutMs = 20_000

/**
 * Connects to all servers, for as long as `--timeout` says; by default 20 seconds, and as long as packages are fetched. Who waits at a terminal is told which ones those are.
 */
export async function lookAtServers(
  given: CommandLine,
  feed: McpTools,
  onKnown: (state: McpServerState) => void = () => {},
): Promise<Look> {
  const asked = readDuration(given, 'timeout')
  const late = new Set(feed.describe().servers.map(({ server }) => server))
  if (process.stderr.isTTY && late.size > 0)
    writeText(process.stderr, `Connecting to ${showLine([...late].join(', '))} …\n`)
  const state = await feed.look({
    timeoutMs: asked ?? defaultTimeoutMs,
    patient: asked === undefined,
    onKnown(server) {
      late.delete(server.server)
      onKnown(server)
    },
  })
  return { ...state, late: [...late] }
}

/** The tools of a server that can be called: the registry leaves out those with an issue in their definition. */
export function findRegistered({ tenant, tools }: McpServerState, registry: Runtime['registry']): string[] {
  const registered = registry.view(tenant)
  return tools.filter((tool) => registered.find(tool) !== undefined)
}
