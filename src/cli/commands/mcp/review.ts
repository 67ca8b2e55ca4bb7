import { mcpTools } from '../../../library/mcp-tools.ts'
import { exitCodes } from '../../exit-codes.ts'
import { findPlaces, wireRuntime } from '../../wire.ts'
import { approveVerb } from '../tools/approve.ts'
import type { ToolsVerb } from '../tools/verb.ts'
import { UsageError } from '../../usage-error.ts'

/**
 * Asks every MCP server for its tools and shows which definitions changed since they were approved, field by field; with a name and
 * `--approve`, lets that one be used. Exit code 1 where a server could not be asked.
 */
export const reviewVerb: ToolsVerb = {
  options: ['approve', 'digest', 'tenant'],
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

/** Whether every server could be asked. */
async function ask(given: Parameters<ToolsVerb['run']>[0]): Promise<boolean> {
  const places = findPlaces(given)
  const feed = mcpTools({ path: places.mcp, meet: false })
  const runtime = await wireRuntime(places, undefined, { upstreams: feed })
  try {
    const { servers, faulty } = await feed.look()
    return faulty.length === 0 && servers.every(({ fault }) => fault === undefined)
  } finally {
    await runtime.close()
  }
}
