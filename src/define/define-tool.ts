import { ToolFailure } from '../contract/base/errors.ts'
import type { Fault, Json, JsonObject } from '../contract/base/json.ts'
import type { Plan, PlanContext } from '../contract/base/plan.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import type { Supplies } from '../contract/base/supplies.ts'
import type { FamiliarFace, Tool, ToolContext, ToolDefinition, ToolReturn } from '../contract/base/tool.ts'
import { describeSchema, type InferInput, type InputSchema } from './describe-schema.ts'
import { fromSnake, toSnake, toSnakeFields, toSnakeSchema } from './snake-case.ts'
import { findNoFunctions } from './find-wrong-kinds.ts'
import { refuseFaulty, refuseUnknownSpec, toDefinition, type ManifestSpec } from './to-definition.ts'

type SupplyName = keyof Supplies

/** What `run` is given: the call's context with the supplies named in `needs` present. */
export type ContextWith<Needs extends SupplyName> = ToolContext & Required<Pick<Supplies, Needs>>

interface CommonSpec<Needs extends SupplyName> extends ManifestSpec {
  /** Supplies that must be there; they are then in the context. */
  needs?: readonly Needs[]
  /** A JSON Schema, or any Standard Schema that emits JSON Schema. What `run` returns as data must fit it. */
  output?: InputSchema
  /** `snake_case` shows camelCase fields of input and output to models in snake_case and maps them back. Default `as-written`. */
  wireCase?: 'as-written' | 'snake_case'
  /** How models that know another name and input see the tool. */
  familiar?: FamiliarFace
  /** Frees what the tool holds when no caller can call it any more. */
  dispose?: () => void | Promise<void>
}

/** A tool with typed input. */
export interface TypedSpec<Schema extends InputSchema, Needs extends SupplyName> extends CommonSpec<Needs> {
  /** A JSON Schema, or any Standard Schema that emits JSON Schema: zod 4, Valibot, ArkType. */
  input: Schema
  plan?: (input: InferInput<Schema>, context: PlanContext) => Plan | Promise<Plan>
  run: (input: InferInput<Schema>, context: ContextWith<Needs>) => ToolReturn | Promise<ToolReturn>
}

/** A tool without input. */
export interface NoInputSpec<Needs extends SupplyName> extends CommonSpec<Needs> {
  input?: undefined
  rawInput?: undefined
  run: (context: ContextWith<Needs>) => ToolReturn | Promise<ToolReturn>
}

/** A tool that takes its checked input as plain JSON. */
export interface RawSpec<Needs extends SupplyName> extends CommonSpec<Needs> {
  input?: undefined
  rawInput: JsonSchema
  plan?: (input: JsonObject, context: PlanContext) => Plan | Promise<Plan>
  run: (input: JsonObject, context: ContextWith<Needs>) => ToolReturn | Promise<ToolReturn>
}

/**
 * Makes a tool from a manifest and a function. Four forms: typed input with any JSON value or a `toolOutput` as result, no
 * input, and raw input. Throws a SetupError where a schema cannot be turned into JSON Schema; everything else
 * is checked when the tool is registered.
 *
 * @example
 * const greet = defineTool({
 *   name: 'demo.greet',
 *   description: 'Greets somebody by name.',
 *   permission: 'readonly',
 *   input: z.object({ name: z.string() }),
 *   run: ({ name }) => `Hello, ${name}!`,
 * })
 */
export function defineTool<const Schema extends InputSchema, const Needs extends SupplyName = never>(
  spec: TypedSpec<Schema, Needs>,
): Tool
export function defineTool<const Needs extends SupplyName = never>(spec: RawSpec<Needs>): Tool
export function defineTool<const Needs extends SupplyName = never>(spec: NoInputSpec<Needs>): Tool
export function defineTool(spec: AnySpec): Tool {
  refuseUnknownSpec(spec, ownFields)
  refuseFaulty(spec, findMissingRun(spec))
  refuseFaulty(spec, findNoFunctions(spec, ['run', 'plan', 'dispose']))
  const shape = toShape(spec)
  const { output, encode } = toOutputShape(spec)
  const definition: ToolDefinition = toDefinition(spec, {
    input: shape.schema,
    output,
    needs: spec.needs ?? [],
  })
  const { takesInput } = shape
  // The overloads tie what these take to the schema, and the road hands them what passed it.
  const run = spec.run as (...given: unknown[]) => unknown
  const plan = spec.plan as ((input: unknown, context: PlanContext) => Plan | Promise<Plan>) | undefined
  return {
    definition,
    ...(spec.familiar !== undefined && { familiar: spec.familiar }),
    ...(shape.decode !== undefined && { decode: shape.decode }),
    ...(encode !== undefined && { encode }),
    ...(plan !== undefined && { plan: (input: unknown, context: PlanContext) => plan(input, context) }),
    run: takesInput ? (input, context) => run(input, context) : (_, context) => run(context),
    ...(spec.dispose !== undefined && { dispose: spec.dispose }),
  }
}

function findMissingRun({ run }: Partial<AnySpec>): Fault[] {
  if (run !== undefined) return []
  const message = 'The field "run" is missing; give the function that does what the tool is for.'
  return [{ pointer: '/run', code: 'missing_field', message }]
}

const ownFields: readonly (keyof AnySpec)[] = [
  'input',
  'rawInput',
  'wireCase',
  'output',
  'needs',
  'familiar',
  'plan',
  'run',
  'dispose',
]

/** The three specs as the implementation sees them. */
interface AnySpec extends CommonSpec<SupplyName> {
  input?: InputSchema | undefined
  rawInput?: JsonSchema | undefined
  wireCase?: 'as-written' | 'snake_case'
  plan?: (input: never, context: PlanContext) => Plan | Promise<Plan>
  run: (...given: never[]) => ToolReturn | Promise<ToolReturn>
}

interface Shape {
  schema: JsonSchema
  takesInput: boolean
  decode?: (input: JsonObject) => unknown
}

function toShape(spec: AnySpec): Shape {
  if (spec.rawInput !== undefined) return { schema: spec.rawInput, takesInput: true }
  if (spec.input === undefined)
    return { schema: { type: 'object', properties: {}, additionalProperties: false }, takesInput: false }
  const { schema, parse } = describeSchema(spec.input)
  const snake = spec.wireCase === 'snake_case'
  const closed = closeTop(snake ? toSnakeSchema(schema) : schema)
  if (!snake && parse === undefined) return { schema: closed, takesInput: true }
  return {
    schema: closed,
    takesInput: true,
    decode(input) {
      const value: Json = snake ? fromSnake(input, schema) : input
      if (parse === undefined) return value
      return snake ? underWireNames(() => parse(value)) : parse(value)
    },
  }
}

/** The output as models see it; and what the library of its schema still has to say of data that fits its JSON Schema. */
function toOutputShape({ output, wireCase }: AnySpec): {
  output: JsonSchema | undefined
  encode?: Tool['encode']
} {
  if (output === undefined) return { output }
  const { schema, parse } = describeSchema(output)
  const snake = wireCase === 'snake_case'
  if (!snake && parse === undefined) return { output: schema }
  return {
    output: snake ? toSnakeSchema(schema) : schema,
    encode(data, { partial }) {
      if (!partial) holdTo(parse, data, snake)
      return snake ? toSnakeFields(data, schema) : data
    },
  }
}

function holdTo(parse: ((value: unknown) => unknown) | undefined, data: Json, snake: boolean): void {
  try {
    if (snake) underWireNames(() => parse?.(data))
    else parse?.(data)
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error
    const { message, faults = [] } = error
    throw new ToolFailure({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_output', message, faults })
  }
}

/** A model is told of faults under the names that it used. */
function underWireNames(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof ToolFailure) || error.faults === undefined) throw error
    const { code, reason, message } = error
    const faults = error.faults.map((fault) => ({ ...fault, pointer: toSnake(fault.pointer) }))
    throw new ToolFailure({ code, reason, message, faults })
  }
}

/** Fields that a schema does not name are refused unless it says otherwise. */
function closeTop(schema: JsonSchema): JsonSchema {
  return schema.type === 'object' && schema.additionalProperties === undefined
    ? { ...schema, additionalProperties: false }
    : schema
}
