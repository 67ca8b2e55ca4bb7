import type { Json } from './base/json.ts'
import type { Preview } from './tool/plan.ts'
import type { Verdict } from './policy.ts'
import type { Principal } from './base/principal.ts'
import type { Permission } from './tool/tool.ts'

export type { ApprovalBinding } from './base/approval-binding.ts'

/** What a person is asked. Everything needed to decide, nothing that lets them change the call. */
export interface ApprovalRequest {
  /** Id of the question in the store, where others can answer it too. Absent if it is not kept, and in the question itself. */
  readonly approval?: string
  readonly callId: string
  readonly toolCallId: string
  readonly session: string
  readonly principal: Principal
  /** Canonical name. */
  readonly tool: string
  readonly title: string
  readonly permission: Permission
  readonly tags: readonly string[]
  readonly dangerous: boolean
  /** The input in one line, secrets redacted, shortened. */
  readonly inputSummary: string
  /** What an allow_for_session would cover. */
  readonly scope: string
  readonly preview: Preview
  /** Whether the call has run already: what it did is held back, and the answer decides whether that lands. */
  readonly ran: boolean
  readonly cwd: string | undefined
  /** Names of the environment variables that the call would see. */
  readonly env: readonly string[]
  readonly hosts: readonly string[]
  /** Why a person is asked. */
  readonly because: Verdict
  /** Notes of PreToolUse hooks. */
  readonly hookNotes: readonly string[]
  readonly suggested: 'allow_once' | 'deny'
  /** After this many milliseconds no answer means deny. */
  readonly timeoutMs: number
  /** The sessions above the one that asks, the nearest first. */
  readonly parents: readonly AskingParent[]
}

/** A session above the one whose call a person is asked about. */
export interface AskingParent {
  readonly session: string
  readonly role: Principal['role']
  readonly agent?: Principal['agent']
}

/** A person's answer. Anything else than these fields counts as no. */
export interface ApprovalAnswer {
  decision: 'allow_once' | 'allow_for_session' | 'deny'
  reason?: string
  /** Who answered: an actor, whom `approvers` of the policy may name. The program that asks vouches for it. */
  by?: string
  /** What else is to be kept of it, such as who answered: it stands in the result, the event and the evidence. At most 4 KiB as JSON. */
  metadata?: { readonly [key: string]: Json }
}

/**
 * Asks a person. A rejection, a time-out or an unknown answer denies. The signal is aborted when the answer is not wanted any more; if the question
 * was answered elsewhere, its reason is an Error named `AnsweredElsewhere`, whose message says who answered what.
 */
export interface Approver {
  (request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>
  /** Whether it has decided already: it is asked before a command runs, not with what that did. */
  readonly ahead?: boolean
  /**
   * Whose answers they are, if the caller cannot wait for other people: a call that needs them is answered with `POLICY.APPROVAL_PENDING`, and this
   * person is not asked.
   */
  readonly only?: string
}
