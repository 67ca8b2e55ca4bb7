import type { Origin } from './base/call.ts'
import type { Counterpart } from './base/counterpart.ts'
import type { ErrorCode } from './base/errors.ts'
import type { JsonObject } from './base/json.ts'
import type { Effect, Layer } from './policy.ts'
import type { Mode, Role } from './base/principal.ts'
import type { Outcome } from './base/result.ts'

/** Names of what happened. A note carries one; of a begin and an end, kind and outcome say it. */
export type EventName =
  | 'tool_started'
  | 'tool_completed'
  | 'tool_failed'
  | 'tool_denied'
  | 'aborted_tools'
  | 'tool_ended'
  | 'call_aborted'
  | 'calls_paused'
  | 'calls_resumed'
  | 'server_changed'
  | 'server_removed'
  | 'server_login'
  | 'permission_failed'
  | 'session_started'
  | 'session_ended'
  | 'run_started'
  | 'run_ended'
  | 'job_ended'
  | 'tool_registered'
  | 'tool_updated'
  | 'tool_removed'
  | 'tool_enabled'
  | 'tool_paused'
  | 'tool_deprecated'
  | 'definition_pending'
  | 'definition_approved'
  | 'approval_requested'
  | 'approval_decided'
  | 'approval_expired'
  | 'consent_given'
  | 'consent_revoked'
  | 'policy_changed'
  | 'policy_saved'
  | 'visit_began'
  | 'visit_ended'
  | 'visit_refused'
  | 'access_changed'
  | 'unredacted_shown'
  | 'worktree_removed'
  | 'policy_refused'
  | 'outcome_resolved'
  | 'bodies_pruned'
  | 'evidence_exported'
  | 'key_rotated'
  | 'mark_lost'
  | 'hook_failed_open'

/** Record that a call was taken up. Carries digests, never raw input. */
export interface BeginRecord {
  kind: 'begin'
  tenant: string
  session: string
  call: string
  /** The provider's id, where it gave one. */
  toolCallId?: string
  actor: string
  role: Role
  origin: Origin
  tool: string
  /** Version and digest of the definition; empty for an unknown tool. */
  definition: string
  /** Milliseconds since the epoch. */
  at: number
  /** Digest of the input that is kept. */
  input: string
  /** Digests of what was said, keyed with the secret of the store, where less than that is kept: of the input; of the operations and their scope. */
  said?: { input?: string; plan?: string }
  policy: string
  profile?: string
  decision?: { effect: Effect; layer: Layer; rule: string }
  /** Digest of the planned operations, where there are any; their text is the second line of the body. */
  plan?: string
  /** The mode of the session, where it is not `default`. */
  mode?: Mode
  /** Only if standing consents answer nothing in the session. */
  standingConsents?: false
  /** The sessions above this one, the nearest first; a mode that is `default` is left out. */
  parents?: readonly { session: string; role: Role; mode?: Mode }[]
  /** The call that made this one as a part of itself, and what that one calls it; a program counts its calls from 1. */
  partOf?: { call: string; part: string }
  /** Absolute path of the worktree that the session is held to. */
  worktree?: string
  /** Id of the standing consent, or of the earlier call whose approval, that answered for the person. */
  consent?: string
  /** W3C trace context of the caller. */
  trace?: string
  /** Of a call that another domain asked for: its own record of it. */
  counterpart?: Counterpart
  approval?: {
    decision: string
    preview: string
    by?: string
    id?: string
    reason?: string
    metadata?: JsonObject
  }
  /** Stands for the idempotency key: a digest of it and the actor, keyed with the secret of the store, its first 22 characters. */
  idempotencyKey?: string
  /** Of a call with such a key: kind and id of the source that its tool came from. */
  source?: string
  /** Of a call with such a key: what a yes for the session would cover, where its plan names that. */
  scope?: string
  /** Of a call that an agent runs itself: the agent, its id of its session, and its name of the tool. */
  observed?: { agent: string; session: string; tool: string }
  /** What the call took from its budgets at most, so that it costs something even if its process dies. */
  reserved?: readonly ReservedUnits[]
  /** Id of the process that wrote it, so that a later one can tell whether it still lives; `observed` if an agent runs the call. */
  writer: string
}

/** Units that a call took from one account of a budget. */
export interface ReservedUnits {
  budget: string
  account: string
  units: number
  /** When the window of the account ends; absent for a budget in total. */
  endsAt?: number
}

/** Record that a call ended. Exactly one for each begin. */
export interface EndRecord {
  kind: 'end'
  tenant: string
  session: string
  call: string
  tool: string
  at: number
  outcome: Outcome
  code?: ErrorCode
  reason?: string
  /** Digest of the stored result. */
  result: string
  bytesIn: number
  bytesOut: number
  /** As in the metadata of the result. */
  durationMs: number
  /** What the person answered who was asked about the changes of a command, with a digest of what they saw. */
  approval?: NonNullable<BeginRecord['approval']>
  /** Its tool did not stop when it was told to, and ran on after the answer. The note `tool_ended` says when it had ended. */
  outlived?: true
  /** Units that the call spent, by ids of its budgets. */
  spent?: { readonly [budget: string]: number }
  artifacts?: readonly string[]
  /** Of a call that another domain did: its record of it, as far as it said what that is. */
  counterpart?: Counterpart
}

/** Anything else worth keeping: a tool that was paused, a consent that was given, a failed permission callback. */
export interface NoteRecord {
  kind: 'note'
  event: EventName
  tenant: string
  /** Empty for what belongs to no session. */
  session: string
  call?: string
  at: number
  message: string
  /** The actor who did it, if there is one. */
  actor?: string
  /** The tool it is about. */
  tool?: string
  data?: JsonObject
}

/** A signature over everything in the chain of a tenant up to here. */
export interface CheckpointRecord {
  kind: 'checkpoint'
  tenant: string
  session: ''
  at: number
  /** Sequence and hash of the last record that it covers; others may have been written between that one and this. */
  sequence: number
  hash: string
  /** Id of the key that signed. */
  key: string
  /** Ed25519 (RFC 8032) over the JSON text of this record without its last field, base64url. */
  signature: string
}

export type EvidenceRecord = BeginRecord | EndRecord | NoteRecord | CheckpointRecord

/** A record as the store keeps it: its exact text, its place in the chain of its tenant, and its prunable body. */
export interface StoredRecord {
  tenant: string
  /** 1, 2, 3 … without gaps in each tenant. */
  sequence: number
  kind: EvidenceRecord['kind']
  session: string
  call: string
  /** JSON text of the record; what the hash is taken over. */
  text: string
  /** sha256 hex over the previous hash, a newline and `text`. */
  hash: string
  /**
   * Of a begin: the redacted input, and in a second line the planned operations where there are any. Of an end: the redacted result,
   * without what the records say already. The digests stand in the record.
   */
  body: string | null
}

/** The first thing wrong with a chain. */
export interface ChainIssue {
  tenant: string
  sequence: number
  call: string
  problem:
    | 'changed'
    | 'missing'
    | 'reordered'
    | 'body_changed'
    | 'open_begin'
    | 'second_begin'
    | 'end_without_begin'
    | 'column_mismatch'
    | 'truncated'
    | 'bad_signature'
    /** Bodies are gone that `prune` did not remove. */
    | 'body_missing'
    /** Something beside the chains was not written by Handrail, or is missing. Stands at no record. */
    | 'forged'
    /** A file that verification needs is damaged. Stands at no record. */
    | 'damaged_file'
  message: string
}

/** What verification found. */
export interface Verification {
  ok: boolean
  records: number
  calls: number
  issue?: ChainIssue
  /** Calls whose result was pruned, or left out of an export, where there are any. */
  withoutResult?: number
  /** Where public keys were given: what their signatures cover. */
  signed?: {
    records: number
    /** Records at the ends of the chains that no checkpoint covers yet. */
    pending: number
    /** Ids of the keys that signed. */
    keys: readonly string[]
  }
}
