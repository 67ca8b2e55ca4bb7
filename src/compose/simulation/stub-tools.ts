import type { Plan } from '../../contract/tool/plan.ts'
import type { Tool, ToolDefinition, ToolSource } from '../../contract/tool/tool.ts'
import { stubFor } from '../../kit/builtin-tools.ts'

/**
 * Tools that a policy takes for these, and that do nothing: they take any input, and their plan is the one that is given. It may throw a
 * `ToolFailure`, as that of a tool may.
 */
export function toStubs(tools: readonly (Tool | ToolSource)[], plan: () => Plan): ToolSource[] {
  return tools.map((given) => {
    if (!('list' in given)) return { id: 'code', kind: 'code', list: () => [toStub(given, plan)] }
    const { id, kind, recalled, tenants } = given
    return {
      id,
      kind,
      ...(recalled !== undefined && { recalled }),
      ...(tenants !== undefined && { tenants }),
      list: () => given.list().map((tool) => toStub(tool, plan)),
    }
  })
}

function toStub(tool: Tool, plan: () => Plan): Tool {
  const { definition } = tool
  const stub: ToolDefinition = {
    ...definition,
    inputSchema: { type: 'object' },
    outputSchema: undefined,
    idempotency: 'none',
    keyFrom: undefined,
    needs: [],
  }
  return stubFor(tool, {
    definition: stub,
    plan,
    run() {
      throw new Error(`The stub of "${definition.name}" was run.`)
    },
  })
}
