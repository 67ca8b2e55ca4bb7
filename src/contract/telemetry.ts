import type { Call } from './base/call.ts'
import type { Decision } from './policy.ts'
import type { ToolResult } from './base/result.ts'
import type { ToolDefinition } from './tool/tool.ts'

/**
 * Where the time of a call goes: `preflight` up to the decision, `approve` while a person is asked, `admit` until it may start,
 * `run` in the tool, `record` until its end is kept.
 */
export type CallStage = 'preflight' | 'approve' | 'admit' | 'run' | 'record'

/** What is known of an ended call beside its result. */
export interface CallFacts {
  /** Undefined if the tool does not exist. */
  readonly definition: ToolDefinition | undefined
  readonly decision: Decision | undefined
  /** Whether the tool was started. */
  readonly ran: boolean
  readonly bytesIn: number
  readonly bytesOut: number
  /** Units that the call spent, by ids of its budgets; undefined if it has none, or where its tool still runs. */
  readonly spent: { readonly [budget: string]: number } | undefined
}

/**
 * Told of every call as it happens, for traces and metrics. What it throws is logged and changes nothing. Each call begins and ends
 * once, and is the same object each time.
 */
export interface CallObserver {
  /** Called before anything else happens to the call, in the context of its caller. */
  began(call: Call): void
  /** The call leaves the stage before, which at first is `preflight`. A call that stops early skips stages. */
  enters(call: Call, stage: CallStage): void
  /** Runs the tool, so that whatever it starts is known to belong to the call. Must call `run`, and return what it returns. */
  within<T>(call: Call, run: () => T): T
  ended(call: Call, result: ToolResult, facts: CallFacts): void
}

/** Spans and metrics for OpenTelemetry, through `@opentelemetry/api`, which must be installed. */
export interface TelemetryOptions {
  /** A `Tracer`. Default: that of the global provider. */
  tracer?: object
  /** A `Meter`. Default: that of the global provider. */
  meter?: object
}
