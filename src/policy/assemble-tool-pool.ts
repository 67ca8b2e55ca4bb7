import type { ToolFeed } from '../contract/mcp/tool-feed.ts'
import type { Tool, ToolSource } from '../contract/tool/tool.ts'

/** Tools of three origins and the two lists that filter them. */
export interface ToolPoolRequest {
  /** What everybody has, such as `codeTools()`. */
  base: readonly (Tool | ToolSource)[]
  custom?: readonly (Tool | ToolSource)[]
  /** Such as `mcpTools()`. */
  mcp?: readonly (ToolFeed | ToolSource)[]
  /** Canonical names or patterns; absent or empty means no filter. */
  allowed?: readonly string[]
  /** Canonical names or patterns; beats `allowed`. */
  disallowed?: readonly string[]
}

/** Options of a runtime that has these tools. */
export interface ToolPool {
  readonly tools: readonly (Tool | ToolSource)[]
  readonly feeds: readonly ToolFeed[]
  readonly duplicates: 'replace'
  readonly allowedTools: readonly string[]
  readonly disallowedTools: readonly string[]
}

/**
 * Puts tools of three origins together for `createRuntime`. Where a name occurs in several, the tool of the origin named later stands in: mcp
 * over custom over base; two in one origin are an issue that the runtime tells. Each keeps its source, and so what is said of it: tools of servers
 * are pinned and left out one by one.
 *
 * @example
 * const pool = assembleToolPool({ base: [codeTools()], custom: [greet], mcp: [mcpTools()], disallowed: ['code.run_*'] })
 * const runtime = await createRuntime({ ...pool, project: '.' })
 */
export function assembleToolPool(request: ToolPoolRequest): ToolPool {
  const { base, custom = [], mcp = [], allowed = [], disallowed = [] } = request
  const taken = new Set(custom.flatMap(listOf).map(nameOf))
  return {
    tools: [...base.flatMap((given) => without(given, taken)), ...custom, ...mcp.filter(isSource)],
    feeds: mcp.flatMap((given) => (isSource(given) ? [] : [given])),
    duplicates: 'replace',
    allowedTools: allowed,
    disallowedTools: disallowed,
  }
}

function isSource(given: ToolFeed | ToolSource): given is ToolSource {
  return 'list' in given
}

function listOf(given: Tool | ToolSource): readonly Tool[] {
  return 'list' in given ? given.list() : [given]
}

function nameOf({ definition }: Tool): string {
  return definition.name
}

/** The same without the tools of these names. */
function without(given: Tool | ToolSource, names: ReadonlySet<string>): (Tool | ToolSource)[] {
  const isLeft = (tool: Tool): boolean => !names.has(nameOf(tool))
  if (!('list' in given)) return isLeft(given) ? [given] : []
  if (given.list().every(isLeft)) return [given]
  return [{ ...given, list: () => given.list().filter(isLeft) }]
}
