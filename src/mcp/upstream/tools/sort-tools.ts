import type { JsonObject } from '../../../contract/base/json.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { findIdlePatterns, type IdlePattern } from '../base/idle-patterns.ts'
import { findLongDescription, importTool, type FaultyTool, type ImportedTool } from '../base/import-tool.ts'
import { readParamHeaders } from '../requests/param-headers.ts'
import { isWanted } from './to-imported-definition.ts'

/** What came of the list of tools of a server. */
export interface SortedTools {
  readonly tools: readonly ImportedTool[]
  readonly faulty: readonly FaultyTool[]
  /** What the operator should know of tools that are taken. Default: nothing. */
  readonly notes?: readonly FaultyTool[]
  /** Default: none. */
  readonly idle?: readonly IdlePattern[]
  /** As they are remembered. */
  readonly recalled?: boolean
}

/** The tools that the operator wants, as `hide` lets them be shown, and what is none. Of two with one name the first is taken. */
export function sortTools(
  server: UpstreamServer,
  raw: readonly unknown[],
  hide: (said: JsonObject) => JsonObject,
): SortedTools {
  const tools = new Map<string, ImportedTool>()
  const faulty: FaultyTool[] = []
  for (const each of raw) {
    const imported = checkHeaders(server, importTool(server.name, each, hide))
    if ('message' in imported) faulty.push(imported)
    else if (tools.has(imported.name))
      faulty.push({
        tool: imported.name,
        message: 'Its server has two tools of this name; the first is taken.',
      })
    else if (isWanted(server, imported.rawName)) tools.set(imported.name, imported)
  }
  const notes = [...tools.values()].flatMap((tool) => findLongDescription(tool) ?? [])
  return { tools: [...tools.values()], faulty, notes, idle: findIdlePatterns(server, raw.flatMap(nameOf)) }
}

function nameOf(each: unknown): string[] {
  return isPlainObject(each) && typeof each['name'] === 'string' ? [each['name']] : []
}

/** A tool whose headers could not be sent as its server means them is none. */
function checkHeaders(
  { transport }: UpstreamServer,
  imported: ImportedTool | FaultyTool,
): ImportedTool | FaultyTool {
  if (transport.kind !== 'http' || 'message' in imported) return imported
  const read = readParamHeaders(imported.fields.inputSchema)
  return 'message' in read ? { tool: imported.name, message: read.message } : imported
}
