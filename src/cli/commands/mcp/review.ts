import { mcpTools } from '../../../library/mcp-tools.ts'
import { findPlaces, wireRuntime } from '../../wire.ts'
import { approveVerb } from '../tools/approve.ts'
import type { ToolsVerb } from '../tools/verb.ts'
import { UsageError } from '../../usage-error.ts'

/**
 * Asks every MCP server for its tools and shows which definitions changed since they were approved, field by field; with a name and
 * `--approve`, lets that one be used.
 */
export const reviewVerb: ToolsVerb = {
  options: ['approve', 'digest', 'tenant'],
  async run(given, name) {
    const approves = given.options['approve'] === true
    if (approves !== (name !== undefined))
      throw new UsageError(
        'Name the tool to approve, with --approve: handrail mcp review mcp.github.get_issue --approve',
      )
    if (!approves) await ask(given)
    return approveVerb.run(given, name)
  },
}

async function ask(given: Parameters<ToolsVerb['run']>[0]): Promise<void> {
  const places = findPlaces(given)
  const feed = mcpTools({ path: places.mcp, meet: false })
  const runtime = await wireRuntime(places, undefined, { upstreams: feed })
  try {
    await feed.look()
  } finally {
    await runtime.close()
  }
}
