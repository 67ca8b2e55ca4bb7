import { mcpTools, type McpPackageUpdate, type McpTools } from '../../../compose/sources/mcp-tools.ts'
import { exitCodes } from '../../base/exit-codes.ts'
import { showLine, writeJson, writeText } from '../../base/show-safely.ts'
import { startProgress } from '../../render/progress.ts'
import { findPlaces, wireRuntime } from '../../setup/wire.ts'
import type { ToolsVerb } from '../tools/verb.ts'

/** Fetches the packages of MCP servers anew, of one or of all, and pins what is newest. */
export const updateVerb: ToolsVerb = {
  async run(given, name) {
    const places = findPlaces(given)
    const feed = mcpTools({ path: places.mcp, meet: false })
    const runtime = await wireRuntime(places, undefined, { upstreams: feed })
    const isJson = given.options['json'] === true
    const updates: object[] = []
    const progress = startProgress()
    try {
      const servers = name === undefined ? findFetched(feed) : [name]
      for (const server of servers) {
        progress.show(`Fetching the package of "${server}" …`)
        const update = await feed.update(server).finally(() => progress.end())
        if (isJson) updates.push({ server, ...toWire(update) })
        else writeText(process.stdout, `${describe(server, update)}\n`)
      }
      if (isJson) writeJson(updates)
      else if (name === undefined && servers.length === 0)
        writeText(process.stdout, 'There is no MCP server whose package is fetched for it.\n')
      return exitCodes.ok
    } finally {
      await runtime.close()
    }
  },
}

/** Those that have a package. */
function findFetched(feed: McpTools): readonly string[] {
  return feed.describe().servers.flatMap((each) => (each.package === undefined ? [] : [each.server]))
}

function describe(server: string, update: McpPackageUpdate | undefined): string {
  const who = `"${showLine(server)}"`
  if (update === undefined) return `${who} has no package that is fetched for it.`
  const before = new Map(update.before?.versions.map(({ name, version }) => [name, version]))
  const changes = update.now.versions.map(({ name, version }) => {
    const was = before.get(name)
    return `${showLine(name)} ${was === undefined || was === version ? '' : `${showLine(was)} → `}${showLine(version)}`
  })
  const isSame = update.now.versions.every(({ name, version }) => before.get(name) === version)
  const notes = update.now.notes.map((note) => `\n  ${showLine(note)}`)
  if (isSame) return `${who}: ${changes.join(', ')} is the newest.${notes.join('')}`
  return `${who}: ${changes.join(', ')}. It is started with that from now on; tools whose definition changed wait for "handrail mcp review".${notes.join('')}`
}

function toWire(update: McpPackageUpdate | undefined) {
  return { before: update?.before?.versions ?? null, now: update?.now.versions ?? null }
}
