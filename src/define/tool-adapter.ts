import type { Plan, PlanContext } from '../contract/tool/plan.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import type { JsonObject } from '../contract/base/json.ts'
import type { Tool, ToolDefinition, ToolReturn } from '../contract/tool/tool.ts'
import { simplifyOwn } from '../schema/normalise/simplify-own.ts'
import { toObjectSchema } from '../schema/normalise/to-object-schema.ts'
import { refuseUnknownSpec, toDefinition, type ManifestSpec } from './to-definition.ts'
import type { ContextWith, PlannedBy } from './tool-spec.ts'

/**
 * The class form, for tools with state and life: extend it, pass the manifest to `super`, implement `run`, and where they help
 * `plan`, `decode` and `dispose`. `Planning` is what `plan` returns, if `run` is to know the type of what it left.
 */
export abstract class ToolAdapter<Input = JsonObject, Planning extends Plan = Plan> implements Tool {
  readonly definition: ToolDefinition

  constructor(
    spec: ManifestSpec & { inputSchema: JsonSchema; outputSchema?: JsonSchema; needs?: readonly string[] },
  ) {
    refuseUnknownSpec(spec, ['inputSchema', 'outputSchema', 'needs'])
    this.definition = toDefinition(spec, {
      input: toObjectSchema(simplifyOwn(spec.inputSchema)),
      output: spec.outputSchema && simplifyOwn(spec.outputSchema),
      needs: spec.needs ?? [],
    })
  }

  abstract run(
    input: Input,
    context: ContextWith<never, PlannedBy<Planning>>,
  ): ToolReturn | Promise<ToolReturn>

  plan?(input: Input, context: PlanContext): Planning | Promise<Planning>
  decode?(input: JsonObject): Input
  dispose?(): void | Promise<void>
}
