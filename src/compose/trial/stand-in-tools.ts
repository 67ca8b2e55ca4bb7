import type { Plan } from '../../contract/base/plan.ts'
import type { Tool, ToolDefinition, ToolSource } from '../../contract/base/tool.ts'
import { standInFor } from '../../kit/builtin-tools.ts'

/**
 * Tools that a policy takes for these, and that do nothing: they take any input, and their plan is the one that is given. It may throw a
 * `ToolFailure`, as that of a tool may.
 */
export function toStandIns(tools: readonly (Tool | ToolSource)[], plan: () => Plan): ToolSource[] {
  return tools.map((given) => {
    if (!('list' in given)) return { id: 'code', kind: 'code', list: () => [toStandIn(given, plan)] }
    const { id, kind, recalled, tenants } = given
    return {
      id,
      kind,
      ...(recalled !== undefined && { recalled }),
      ...(tenants !== undefined && { tenants }),
      list: () => given.list().map((tool) => toStandIn(tool, plan)),
    }
  })
}

function toStandIn(tool: Tool, plan: () => Plan): Tool {
  const { definition } = tool
  const standIn: ToolDefinition = {
    ...definition,
    inputSchema: { type: 'object' },
    outputSchema: undefined,
    idempotency: 'none',
    keyFrom: undefined,
    needs: [],
  }
  return standInFor(tool, {
    definition: standIn,
    plan,
    run() {
      throw new Error(`The stand-in of "${definition.name}" was run.`)
    },
  })
}
