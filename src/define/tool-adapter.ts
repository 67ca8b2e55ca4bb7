import type { Plan, PlanContext } from '../contract/base/plan.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import type { JsonObject } from '../contract/base/json.ts'
import type { Tool, ToolContext, ToolDefinition, ToolReturn } from '../contract/base/tool.ts'
import { refuseUnknownSpec, toDefinition, type ManifestSpec } from './to-definition.ts'

/**
 * The class form, for tools with state and life: extend it, pass the manifest to `super`, implement `run`, and where they help
 * `plan`, `decode` and `dispose`.
 */
export abstract class ToolAdapter<Input = JsonObject> implements Tool {
  readonly definition: ToolDefinition

  constructor(
    spec: ManifestSpec & { inputSchema: JsonSchema; outputSchema?: JsonSchema; needs?: readonly string[] },
  ) {
    refuseUnknownSpec(spec, ['inputSchema', 'outputSchema', 'needs'])
    this.definition = toDefinition(spec, {
      input: spec.inputSchema,
      output: spec.outputSchema,
      needs: spec.needs ?? [],
    })
  }

  abstract run(input: Input, context: ToolContext): ToolReturn | Promise<ToolReturn>

  plan?(input: Input, context: PlanContext): Plan | Promise<Plan>
  decode?(input: JsonObject): Input
  dispose?(): void | Promise<void>
}
