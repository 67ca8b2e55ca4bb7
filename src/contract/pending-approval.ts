import type { ApprovalAnswer, ApprovalRequest } from './approval.ts'
import type { JsonObject } from './base/json.ts'
import type { Mode } from './base/principal.ts'
import type { CallRequest } from './call-request.ts'
import type { BeginRecord } from './evidence.ts'
import type { Operation } from './tool/plan.ts'
import type { ToolResult } from './base/result.ts'

/** A yes or no to a pending approval. */
export interface RecordedAnswer {
  readonly decision: ApprovalAnswer['decision']
  /** Who gave it: an actor, or what the program that asked says of the person. */
  readonly by: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly reason?: string
}

/** What a call that waits would reach: what a rule for it is made of. Secrets are redacted. */
export interface AskedReach {
  /** Version and digest of the definition of its tool. */
  readonly definition: string
  readonly mode: Mode
  /** The sessions above its own, as its begin record names them. */
  readonly parents?: BeginRecord['parents']
  readonly operations: readonly Operation[]
  /** Absent if it has operations: rules speak of these then. */
  readonly input?: JsonObject
  /** Whether a secret was taken out of the input, or of the operations. */
  readonly hides: { readonly input: boolean; readonly operations: boolean }
}

/**
 * A question about one call that is kept in the store, and answered once. Whatever process asked, any process on the store can answer it, and the
 * answer outlives both. It is for exactly this input, definition, policy and preview: if any of them is another one when the call goes on, it is
 * asked about anew.
 */
export interface PendingApproval {
  readonly id: string
  readonly tenant: string
  /** `allowed` and `denied` ones wait for their call to come back, which uses them. */
  readonly state: 'waiting' | 'allowed' | 'denied' | 'expired' | 'used'
  /** What is asked. Secrets are redacted. */
  readonly request: Omit<ApprovalRequest, 'timeoutMs' | 'approval'>
  /** Absent if it is too much to be kept. */
  readonly reach?: AskedReach
  /** Names what is asked, keyed with the secret of the store: an answer may say which question it is for. */
  readonly digest: string
  /** Milliseconds since the epoch, like `expiresAt`, after which no answer counts. */
  readonly askedAt: number
  readonly expiresAt: number
  /** How many different people have to say yes. */
  readonly needed: number
  /** The oldest first. */
  readonly answers: readonly RecordedAnswer[]
  /** Handrail's id of the call that used it. */
  readonly usedBy?: string
}

/** An answer as it is handed in. Unknown fields are refused. */
export interface ApprovalDecision {
  decision: ApprovalAnswer['decision']
  /** Who decides. The program that hands it in vouches for that. */
  by: string
  reason?: string
  /** The digest of the question that the person saw: the answer is refused if it is another one. */
  digest?: string
}

/** Which pending approvals are listed. */
export interface ApprovalQuery {
  /** Default: of all. */
  tenant?: string
  session?: string
  /** Default: those that wait. */
  state?: PendingApproval['state'] | 'all'
}

/** What waits for a person, in all processes on the store. */
export interface PendingApprovals {
  /** The oldest first. Throws a SetupError (`invalid_options`) for a field or a state that does not exist. */
  list(query?: ApprovalQuery): readonly PendingApproval[]
  /** Undefined if there is none any more: one that was used or expired is kept for a day. */
  find(id: string): PendingApproval | undefined
  /**
   * Answers it; the first answer wins. Resolves when it is durable, with what has become of it: it still waits if more people have to say yes.
   * Throws a SetupError: `unknown_approval` if there is none, `approval_over` if it was answered or expired, `approval_changed` if
   * the digest is not its own, `not_approver` if the policy does not let this actor decide.
   */
  decide(id: string, decision: ApprovalDecision): Promise<PendingApproval>
  /** Calls back with all that wait, whenever that changed, in whatever process; and once now. Returns what ends it. */
  watch(listener: (waiting: readonly PendingApproval[]) => void): () => void
}

/** A call that waits for a person. */
export interface WaitingCall {
  /** Handrail's id of the call. When it comes back, it has another one. */
  readonly callId: string
  /** As it was handed in, secrets and all: what `resume` makes again. */
  readonly call: CallRequest
  readonly approval: PendingApproval
}

/** What has become of the calls of one model answer so far. Plain JSON: it can be kept, and gone on with in another process. */
export interface StepResult {
  /** Of those that are over, in call order. */
  readonly results: readonly ToolResult[]
  /** Those that wait, in call order. */
  readonly waiting: readonly WaitingCall[]
  /** Handrail's ids of all calls, in call order. */
  readonly order: readonly string[]
  readonly endReason: 'completed' | 'waiting' | 'stopped_after_failed_write' | 'aborted_tools'
}
