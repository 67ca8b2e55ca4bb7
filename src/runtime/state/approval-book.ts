import type { ApprovalDecision, PendingApproval, PendingApprovals } from '../../contract/pending-approval.ts'
import type { Json } from '../../contract/base/json.ts'
import type { FactChange } from '../../contract/store.ts'

/** What is to be asked of a person, and kept until they answer. */
export interface NewQuestion {
  readonly request: PendingApproval['request']
  readonly reach: PendingApproval['reach']
  /** What makes two calls the same for the person who answers: principal, tool and input. Keyed. */
  readonly subject: string
  /** Names all that the answer is bound to. Keyed. */
  readonly digest: string
  readonly needed: number
  readonly waitMs: number
  readonly returns: Returns
}

/**
 * How the call of a question goes on. `held`: it stands in its process and waits. Otherwise the question is noted in the evidence, and the call comes
 * back: as a `step` that is resumed, or `anew`, as a client without a memory makes its call again.
 */
export type Returns = 'held' | 'step' | 'anew'

/** A question in the store, as it was read. */
export interface KeptQuestion {
  readonly approval: PendingApproval
  readonly subject: string
  readonly returns: Returns
  /** The process that asked. */
  readonly writer: string
  /** When a process noted that it is over for long, by its clock: what is forgotten is noted first. Undefined while none did. */
  readonly overSince: number | undefined
  /** As the store has it, and how long that is as text. */
  readonly stored: Json
  readonly characters: number
}

/** What looks for the question that was asked about a call. */
export interface QuestionSearch {
  readonly tenant: string
  readonly subject: string
  readonly session: string
  readonly toolCallId: string
}

/** The pending approvals, as the pipeline uses them. */
export interface ApprovalBook extends PendingApprovals {
  /** Keeps a question. Resolves when it is durable. */
  ask(question: NewQuestion): Promise<KeptQuestion>
  /**
   * The open question of this very call, by its session and its id; else one of a call with the same subject that can come back as this one: it comes
   * back anew, or its process has ended.
   */
  asked(search: QuestionSearch): KeptQuestion | undefined
  read(id: string): KeptQuestion | undefined
  /** As `decide`, of the person whom the program asked itself. Returns what has become of it, also if another person was faster; undefined if it is gone. */
  answer(id: string, decision: ApprovalDecision): Promise<PendingApproval | undefined>
  /** Resolves when it is answered; with undefined if it is gone, or the signal is aborted. How long that may take is for the caller to say. */
  settled(id: string, signal: AbortSignal): Promise<PendingApproval | undefined>
  /** What uses an answer for this call, if the question is still as it was read. */
  use(question: KeptQuestion, call: string): FactChange
  /** Takes a question back that no answer can be for, also one that was answered meanwhile. Never rejects. */
  withdraw(id: string): Promise<void>
  /** Ends all that watches. */
  close(): void
}
