import { mcpTools, type McpServerState } from '../../../compose/sources/mcp-tools.ts'
import type { CommandLine } from '../../base/command.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { findRegistered, lookAtServers } from '../../setup/look-at-servers.ts'
import { writeText } from '../../base/show-safely.ts'
import { findPlaces, wireRuntime } from '../../setup/wire.ts'
import { approveVerb } from '../tools/approve.ts'
import type { ToolsVerb } from '../tools/verb.ts'
import { UsageError } from '../../base/usage-error.ts'

/**
 * Asks every MCP server for its tools and shows which came and went, and which definitions changed since they were approved; with a name
 * and `--approve`, lets that one be used. Exit code 1 where a server could not be asked.
 */
export const reviewVerb: ToolsVerb = {
  async run(given, name) {
    const approves = given.options['approve'] === true
    if (approves !== (name !== undefined))
      throw new UsageError(
        'Name the tool to approve, with --approve: handrail mcp review mcp.github.get_issue --approve',
      )
    const isWhole = approves || (await ask(given))
    const code = await approveVerb.run(given, name)
    return isWhole ? code : exitCodes.toolError
  },
}

/** Reports which tools came and went; returns whether every server could be asked. */
async function ask(given: CommandLine): Promise<boolean> {
  const places = findPlaces(given)
  const feed = mcpTools({ path: places.mcp, meet: false })
  const runtime = await wireRuntime(places, undefined, { upstreams: feed })
  const say = (text: string): void => writeText(process.stderr, `handrail: ${text}\n`)
  try {
    const before = new Map(feed.describe().servers.map((each) => [each.server, each]))
    const { servers, faulty, late } = await lookAtServers(given, feed)
    for (const server of late)
      say(`"${server}" has not answered yet. To wait longer for it: handrail mcp review --timeout 2m`)
    const asked = servers.filter(({ server, fault }) => fault === undefined && !late.includes(server))
    if (given.options['json'] !== true)
      for (const server of asked)
        sayOthers(before.get(server.server), { ...server, tools: findRegistered(server, runtime.registry) })
    return faulty.length === 0 && asked.length === servers.length
  } finally {
    await runtime.close()
  }
}

/** Which tools a server has that it had not when it was asked last, and which it has no more. */
function sayOthers(before: McpServerState | undefined, { server, tools }: McpServerState): void {
  if (before === undefined || !before.isKnown) return
  const come = tools.filter((tool) => !before.tools.includes(tool))
  const gone = before.tools.filter((tool) => !tools.includes(tool))
  if (come.length > 0)
    writeText(
      process.stdout,
      `"${server}" has new tools, which the policy decides about: ${come.join(', ')}\n`,
    )
  if (gone.length > 0) writeText(process.stdout, `"${server}" has these no more: ${gone.join(', ')}\n`)
}
