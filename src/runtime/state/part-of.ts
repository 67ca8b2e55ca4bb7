import type { ApprovalBinding } from '../../contract/approval.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import type { PartLook } from '../../contract/tool/part-calls.ts'
import type { JsonSchema } from '../../contract/base/schema.ts'
import type { ToolContext } from '../../contract/tool/tool.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { Returns } from './approval-book.ts'

/** The call that makes a call as a part of itself. Callers of a session cannot name one. */
export const partOf = Symbol('partOf')

/** A call that a caller makes, or another call as a part of itself. */
export type Requested = CallRequest & { readonly [partOf]?: PartOf }

/** The call that another one is a part of. */
export interface PartOf {
  readonly call: string
  readonly part: string
  /** Whether a program makes it, at whatever remove. */
  readonly inProgram: boolean
  /** What the person saw of this part who said yes to that call. */
  readonly seen: ApprovalBinding | undefined
  /** Under which name that call holds units of budgets for this part, until it takes its own. */
  readonly held: string | undefined
  /** Of a piece of a job: what runs in the place of the tool. */
  readonly segment?: Segment
}

/** A piece of work of a tool that goes on after its call. What lets that call through lets it through, unless it is denied by now. */
export interface Segment {
  run(context: ToolContext): unknown
  /** What its data has to fit, as known once it has run. */
  outputSchema(): JsonSchema | undefined
  /** Whether it runs although its session is over, as it ends the work. */
  readonly isLast: boolean
}

/** How a part is called. */
export interface PartRequest extends Requested {
  readonly [partOf]: PartOf
  readonly parks: false | Exclude<Returns, 'held'>
}

/** The parts that calls of a session are made of. */
export interface SessionPartCalls {
  start(request: PartRequest): Promise<ToolResult>
  look(request: CallRequest): Promise<PartLook>
  /** What a part returned before its call waited for a person and came back. */
  earlier(part: { readonly id: string; readonly call: string }): ToolResult | undefined
}
