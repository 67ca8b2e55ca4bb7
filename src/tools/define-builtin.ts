import type { Plan, PlanContext } from '../contract/tool/plan.ts'
import type { ToolOutput } from '../contract/base/result.ts'
import type { JsonSchema } from '../contract/base/schema.ts'
import type { Tool } from '../contract/tool/tool.ts'
import { assembleTool } from '../define/assemble-tool.ts'
import type { InferInput } from '../define/describe-schema.ts'
import type { CommonSpec, ContextWith, ServiceName } from '../define/tool-spec.ts'
import { markBuiltin } from '../kit/builtin-tools.ts'

/** A built-in tool: defined as any other is, with its input decoded for its two functions. */
export interface BuiltinSpec<
  Schema extends JsonSchema,
  Needs extends ServiceName,
  Input,
  Planned,
> extends CommonSpec<Needs> {
  input: Schema
  /** Why it cannot be used here. Default: it can. */
  unavailable?: string | undefined
  /** The checked input as idiomatic values. Throws a `ToolFailure` for what a schema cannot say. */
  decode(input: InferInput<Schema>): Input
  /** What the call would do, and what `run` needs to do exactly that. */
  plan(input: Input, context: PlanContext): Promise<Plan & { planned: Planned }>
  run(input: Input, context: ContextWith<Needs, Planned>): Promise<ToolOutput>
}

/**
 * A tool of Handrail, and known to be. Other defaults than for tools of a program: 30 seconds, 2 MiB of result, 10 calls at a time, and
 * a key is taken by what writes.
 */
export function defineBuiltin<
  const Schema extends JsonSchema,
  const Needs extends ServiceName,
  Input,
  Planned,
>(spec: BuiltinSpec<Schema, Needs, Input, Planned>): Tool {
  return markBuiltin(
    assembleTool({
      idempotency: spec.permission === 'readonly' ? 'none' : 'optional',
      ...spec,
      limits: { timeoutMs: 30_000, maxBytesOut: 2 * 1024 * 1024, concurrency: 10, ...spec.limits },
      run(input: Input, context: ContextWith<Needs, Planned>) {
        if (context.planned === undefined) throw new Error(`"${spec.name}" runs only what it has planned.`)
        return spec.run(input, context)
      },
    }),
  )
}
