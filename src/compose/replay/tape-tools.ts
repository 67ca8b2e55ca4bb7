import type { JsonObject } from '../../contract/base/json.ts'
import type { Plan } from '../../contract/base/plan.ts'
import type { ToolOutput } from '../../contract/base/result.ts'
import type { Tool, ToolSource } from '../../contract/base/tool.ts'
import { standInFor } from '../../kit/builtin-tools.ts'

/** Stands in for what tools do. Either may throw a `ToolFailure`, as a tool may. */
export interface TapeHead {
  plan(tool: string, input: JsonObject): Plan
  run(tool: string, input: JsonObject): ToolOutput
}

/** These tools with their own definitions, whose calls are planned and run by the tape: nothing of theirs runs but the check of the input. */
export function toTapeTools(
  tools: readonly (Tool | ToolSource)[],
  head: TapeHead,
): readonly (Tool | ToolSource)[] {
  return tools.map((given) => {
    if (!('list' in given)) return toTapeTool(given, head)
    const { id, kind, recalled, tenants, place } = given
    return {
      id,
      kind,
      ...(recalled !== undefined && { recalled }),
      ...(tenants !== undefined && { tenants }),
      ...(place !== undefined && { place }),
      list: () => given.list().map((tool) => toTapeTool(tool, head)),
    }
  })
}

function toTapeTool(tool: Tool, head: TapeHead): Tool {
  const { definition, familiar } = tool
  const { name } = definition
  // The road hands on what `decode` returns, which here is the checked input itself.
  return standInFor(tool, {
    definition,
    ...(familiar !== undefined && { familiar }),
    decode(input) {
      tool.decode?.(input)
      return input
    },
    plan: (input) => head.plan(name, input as JsonObject),
    run: (input) => head.run(name, input as JsonObject),
  })
}
