import type { Preview } from '../../contract/tool/plan.ts'
import type { PendingApproval } from '../../contract/pending-approval.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import type { SdkCall } from './create-sdk-door.ts'
import { describeApproval, type AskedApproval } from './describe-end.ts'
import type { WireTool } from './present-tools.ts'

/** What a graph is interrupted with, or a tool suspends with: all calls that wait for a person. */
export interface SuspendedCalls {
  readonly approvals: readonly SuspendedApproval[]
}

/** One call that waits for a person. */
export interface SuspendedApproval extends AskedApproval {
  readonly toolCallId: string
  /** As models call it. */
  readonly tool: string
  readonly preview: Preview
}

/** A call that asks. */
export interface AskingCall {
  readonly tool: WireTool
  readonly call: SdkCall
  readonly approval: PendingApproval
}

/** What a person said. */
export interface SaidAnswer {
  readonly approved: boolean
  readonly by: string
  readonly reason?: string
}

/** What a program is told of calls that wait. */
export function toSuspendedCalls(calls: readonly AskingCall[]): SuspendedCalls {
  const approvals = calls.map(({ tool, call, approval }) => ({
    ...describeApproval(approval),
    toolCallId: call.id,
    tool: tool.name,
    preview: { ...approval.request.preview },
  }))
  return { approvals }
}

/**
 * What the value that a program goes on with says of the question of this id: `{ [id]: { decision, by, reason } }`. Undefined if it says nothing
 * of it, or not who decided. Whatever is not a yes is a no.
 */
export function readSaidAnswer(answer: unknown, id: string): SaidAnswer | undefined {
  const said = isPlainObject(answer) && Object.hasOwn(answer, id) ? answer[id] : undefined
  if (!isPlainObject(said) || typeof said['by'] !== 'string' || said['by'] === '') return undefined
  const { decision, by, reason } = said
  return { approved: decision === 'allow_once', by, ...(typeof reason === 'string' && { reason }) }
}
