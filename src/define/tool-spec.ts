import type { JsonObject } from '../contract/base/json.ts'
import type { Plan, PlanContext } from '../contract/tool/plan.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import type { Services } from '../contract/tool/services.ts'
import type { CompatiblePresentation, ToolContext, ToolReturn } from '../contract/tool/tool.ts'
import type { ToolGenerator } from './finish-generator.ts'
import type { InferInput, InputSchema } from './describe-schema.ts'
import type { ManifestSpec } from './to-definition.ts'

export type ServiceName = keyof Services

/** What `run` is given: the call's context with the services named in `needs` present, and what `plan` left for the run. */
export type ContextWith<Needs extends ServiceName, Planned = unknown> = ToolContext &
  Required<Pick<Services, Needs>> & { readonly planned: Planned }

/** What a plan leaves for the run; `undefined` if it leaves nothing. */
export type PlannedBy<Planning extends Plan> = Planning extends { planned: infer Planned }
  ? Planned
  : Planning extends { planned?: infer Planned }
    ? Planned | undefined
    : undefined

/** What all ways to define a tool have in common. */
export interface CommonSpec<Needs extends ServiceName> extends ManifestSpec {
  /** Services that must be there; they are then in the context. */
  needs?: readonly Needs[]
  /** A JSON Schema, or any Standard Schema that emits JSON Schema. What `run` returns as data must fit it. */
  output?: InputSchema
  /** `snake_case` shows camelCase fields of input and output to models in snake_case and maps them back. Default `as-written`. */
  wireCase?: 'as-written' | 'snake_case'
  /** How models that know another name and input see the tool. */
  compatible?: CompatiblePresentation
  /** Whether models are not shown it until `tools.search` finds it. Default: as its source says. */
  defer?: boolean
  /** Frees what the tool holds when no caller can call it any more. */
  dispose?: () => void | Promise<void>
}

/** A tool with typed input. What `plan` leaves as `planned` has its type in `run`, if `plan` is written first. */
export interface TypedSpec<
  Schema extends InputSchema,
  Needs extends ServiceName,
  Planning extends Plan = Plan,
> extends CommonSpec<Needs> {
  /** A JSON Schema, or any Standard Schema that emits JSON Schema: zod 4, Valibot, ArkType. */
  input: Schema
  plan?: (input: InferInput<Schema>, context: PlanContext) => Planning | Promise<Planning>
  run: (
    input: InferInput<Schema>,
    context: ContextWith<Needs, PlannedBy<Planning>>,
  ) => ToolReturn | Promise<ToolReturn> | ToolGenerator
}

/** A tool without input. */
export interface NoInputSpec<Needs extends ServiceName> extends CommonSpec<Needs> {
  input?: undefined
  rawInput?: undefined
  run: (context: ContextWith<Needs>) => ToolReturn | Promise<ToolReturn> | ToolGenerator
}

/** A tool that takes its checked input as plain JSON. */
export interface RawSpec<Needs extends ServiceName, Planning extends Plan = Plan> extends CommonSpec<Needs> {
  input?: undefined
  rawInput: JsonSchema
  plan?: (input: JsonObject, context: PlanContext) => Planning | Promise<Planning>
  run: (
    input: JsonObject,
    context: ContextWith<Needs, PlannedBy<Planning>>,
  ) => ToolReturn | Promise<ToolReturn> | ToolGenerator
}

/** A tool as it is assembled, however it was defined. */
export interface AnySpec extends CommonSpec<ServiceName> {
  input?: InputSchema | undefined
  rawInput?: JsonSchema | undefined
  /** Only of built-in tools: the checked input as the values that `plan` and `run` take. */
  decode?: (input: never) => unknown
  /** Only of built-in tools: why the tool cannot be used here. */
  unavailable?: string | undefined
  plan?: (input: never, context: PlanContext) => Plan | Promise<Plan>
  run: (...given: never[]) => ToolReturn | Promise<ToolReturn> | ToolGenerator
}
