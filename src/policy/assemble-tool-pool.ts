import type { Tool } from '../contract/tool.ts'
import { passesLists } from './passes-lists.ts'

/** Tools of three origins and the two lists that filter them. */
export interface ToolPoolRequest {
  base: readonly Tool[]
  custom?: readonly Tool[]
  mcp?: readonly Tool[]
  /** Canonical names or patterns; absent or empty means no filter. */
  allowed?: readonly string[]
  /** Canonical names or patterns; beats `allowed`. */
  disallowed?: readonly string[]
}

/**
 * One list of tools without repetition, in name order. Where a name occurs twice, the tool of the origin named later stands in:
 * mcp over custom over base. Use it to put together what `createRuntime` is given where replacing is wanted;
 * a registry itself refuses duplicates.
 */
export function assembleToolPool(request: ToolPoolRequest): Tool[] {
  const byName = new Map<string, Tool>()
  for (const tool of [...request.base, ...(request.custom ?? []), ...(request.mcp ?? [])])
    byName.set(tool.definition.name, tool)
  const lists = { allowed: request.allowed ?? [], disallowed: request.disallowed ?? [] }
  return [...byName.values()]
    .filter((tool) => passesLists(tool.definition.name, lists))
    .sort((left, right) => (left.definition.name < right.definition.name ? -1 : 1))
}
