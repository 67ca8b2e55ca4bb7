import type { Json } from './base/json.ts'
import type { Preview } from './base/plan.ts'
import type { Verdict } from './policy.ts'
import type { Principal } from './base/principal.ts'
import type { Permission } from './base/tool.ts'

/** What a person is asked. Everything needed to decide, nothing that lets them change the call. */
export interface ApprovalRequest {
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
  /** What else is to be kept of it, such as who answered: it stands in the result, the event and the evidence. At most 4 KiB as JSON. */
  metadata?: { readonly [key: string]: Json }
}

/** Asks a person. A rejection, a time-out or an unknown answer denies. */
export type Approver = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalAnswer>

/** What an approval is bound to. It holds once, until it expires, for exactly this. */
export interface ApprovalBinding {
  principal: string
  inputDigest: string
  definitionDigest: string
  policyDigest: string
  previewDigest: string
}
