import { ToolFailure } from '../contract/base/errors.ts'
import type { Json, JsonObject } from '../contract/base/json.ts'
import type { Plan, PlanContext } from '../contract/tool/plan.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import type { Tool } from '../contract/tool/tool.ts'
import { finishGenerator } from './finish-generator.ts'
import { closeObjectSchema, toObjectSchema } from '../schema/normalise/to-object-schema.ts'
import { simplifyOwn } from '../schema/normalise/simplify-own.ts'
import { describeSchema } from './describe-schema.ts'
import { fromSnake, toSnake, toSnakeFields, toSnakeSchema } from './snake-case.ts'
import { toDefinition } from './to-definition.ts'
import type { AnySpec } from './tool-spec.ts'

/** Returns the tool that a spec describes. Throws a SetupError if a schema cannot be turned into JSON Schema. */
export function assembleTool(spec: AnySpec): Tool {
  const shape = toShape(spec)
  const { output, encode } = toOutputShape(spec)
  const { compatible, unavailable, defer, dispose } = spec
  // The types of the definers tie what these take to the schema, and the pipeline hands them what passed it.
  const run = spec.run as (...given: unknown[]) => unknown
  const plan = spec.plan as ((input: unknown, context: PlanContext) => Plan | Promise<Plan>) | undefined
  const decode = (spec.decode as Tool['decode']) ?? shape.decode
  return {
    definition: toDefinition(spec, { input: shape.schema, output, needs: spec.needs ?? [] }),
    ...(compatible !== undefined && { compatible }),
    ...(unavailable !== undefined && { unavailable }),
    ...(defer !== undefined && { defer }),
    ...(decode !== undefined && { decode }),
    ...(encode !== undefined && { encode }),
    ...(plan !== undefined && { plan: (input: unknown, context: PlanContext) => plan(input, context) }),
    run: shape.takesInput
      ? (input, context) => finishGenerator(run(input, context), context)
      : (_, context) => finishGenerator(run(context), context),
    ...(dispose !== undefined && { dispose }),
  }
}

interface Shape {
  schema: JsonSchema
  takesInput: boolean
  decode?: (input: JsonObject) => unknown
}

function toShape(spec: AnySpec): Shape {
  if (spec.rawInput !== undefined)
    return { schema: toObjectSchema(simplifyOwn(spec.rawInput)), takesInput: true }
  if (spec.input === undefined)
    return { schema: { type: 'object', properties: {}, additionalProperties: false }, takesInput: false }
  const { schema, parse } = describeSchema(spec.input)
  const snake = spec.wireCase === 'snake_case'
  const closed = closeObjectSchema(toObjectSchema(snake ? toSnakeSchema(schema) : schema))
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
    const { message, issues = [] } = error
    throw new ToolFailure({ code: 'SCHEMA.VALIDATION_FAILED', reason: 'invalid_output', message, issues })
  }
}

/** A model is told of issues under the names that it used. */
function underWireNames(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    if (!(error instanceof ToolFailure) || error.issues === undefined) throw error
    const { code, reason, message } = error
    const issues = error.issues.map((issue) => ({ ...issue, pointer: toSnake(issue.pointer) }))
    throw new ToolFailure({ code, reason, message, issues })
  }
}
