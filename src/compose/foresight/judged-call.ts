import type { JsonObject } from '../../contract/base/json.ts'
import type { PendingApproval } from '../../contract/pending-approval.ts'
import type { Operation } from '../../contract/tool/plan.ts'
import type { RecordedCall } from '../../evidence/read-calls.ts'
import { toSessionLike, type SessionLike } from '../replay/open-session-like.ts'

/** A call that a rule may be made of: who made it, and what it reached. */
export interface JudgedCall {
  /** Handrail's id of it. */
  readonly call: string
  readonly tenant: string
  readonly tool: string
  readonly actor: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly caller: SessionLike
  /** Version and digest of the definition of the tool. */
  readonly definition: string
  /** Empty if it reaches nothing that a plan names. */
  readonly operations: readonly Operation[]
  /** Undefined if it was not kept. */
  readonly input: JsonObject | undefined
  /** What of it is not what was said, as a secret was taken out of it. */
  readonly hides: { readonly input: boolean; readonly operations: boolean }
  /** Whether a person was asked about what it had written. */
  readonly wrote: boolean
}

/** What a recorded call says. */
export function toJudgedCall({ begin, end, input, operations }: RecordedCall): JudgedCall {
  const { call, tenant, tool, actor, at, definition, said } = begin
  return {
    call,
    tenant,
    tool,
    actor,
    at,
    caller: toSessionLike(begin),
    definition,
    operations,
    input,
    hides: { input: said?.input !== undefined, operations: said?.plan !== undefined },
    wrote: end?.approval !== undefined,
  }
}

/** The call of a question that waits; undefined if the question does not say what it reaches. */
export function toWaitingCall({ tenant, request, reach, askedAt }: PendingApproval): JudgedCall | undefined {
  if (reach === undefined) return undefined
  const { mode, parents, definition, operations, input, hides } = reach
  const { actor, role } = request.principal
  return {
    call: request.callId,
    tenant,
    tool: request.tool,
    actor,
    at: askedAt,
    caller: { tenant, actor, role, mode, ...(parents !== undefined && { parents }) },
    definition,
    operations,
    input,
    hides,
    wrote: request.ran,
  }
}

/** A call as the evidence has it, in a list of what a rule or a policy would change. */
export interface NamedCall {
  readonly call: string
  readonly tenant: string
  readonly tool: string
  readonly actor: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

export function nameCall({ call, tenant, tool, actor, at }: NamedCall): NamedCall {
  return { call, tenant, tool, actor, at }
}
