import type { ApprovalBinding } from '../../contract/approval.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import type { PartLook } from '../../contract/tool/part-calls.ts'
import type { ToolResult } from '../../contract/base/result.ts'
import type { Returns } from './approval-book.ts'

/** The call that another one is a part of. */
export interface PartOf {
  readonly call: string
  readonly part: string
  /** What the person saw of this part who said yes to that call. */
  readonly seen: ApprovalBinding | undefined
  /** Under which name that call holds units of budgets for this part, until it takes its own. */
  readonly held: string | undefined
}

/** How a part is called. */
export interface PartRequest extends CallRequest {
  readonly partOf: PartOf
  readonly parks: false | Exclude<Returns, 'held'>
}

/** The parts that calls of a session are made of. */
export interface SessionPartCalls {
  start(request: PartRequest): Promise<ToolResult>
  look(request: CallRequest): Promise<PartLook>
  /** What a part returned before its call waited for a person and came back. */
  earlier(part: { readonly id: string; readonly call: string }): ToolResult | undefined
}
