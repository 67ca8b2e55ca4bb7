import { describeUnknown } from '../../../compose/stops/describe-unknown.ts'
import { mcpTools } from '../../../compose/sources/mcp-tools.ts'
import type { StopScope } from '../../../contract/base/stop.ts'
import { messageOf } from '../../../kit/text/message-of.ts'
import type { CommandLine } from '../../base/command.ts'
import { showLine } from '../../base/show-safely.ts'
import { findPlaces, wireRuntime } from '../../setup/wire.ts'

/** Says what a stop names that there is not. Only once it holds: an emergency waits for no file. */
export async function sayUnknown(scope: StopScope, given: CommandLine): Promise<void> {
  const { tools, server } = scope
  if (server === undefined && (tools === undefined || tools.includes('*'))) return
  const places = findPlaces(given)
  try {
    const feed = mcpTools({ path: places.mcp, meet: false })
    const runtime = await wireRuntime(places, undefined, { keep: false, upstreams: feed })
    try {
      const { servers, faulty } = feed.describe()
      const named = [...servers.map((each) => each.server), ...faulty.map((each) => each.server)]
      const known = {
        registry: runtime.registry,
        servers: named,
        tenants: ['local', ...runtime.store.tenants()],
      }
      const unknown = describeUnknown(scope, known)
      if (unknown !== undefined) process.stderr.write(`handrail: ${showLine(unknown)}\n`)
    } finally {
      await runtime.close()
    }
  } catch (error) {
    process.stderr.write(
      `handrail: whether there is what was named could not be looked up: ${showLine(messageOf(error).slice(0, 300))}\n`,
    )
  }
}
