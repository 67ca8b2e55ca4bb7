import type { Origin } from './call.ts'
import type { ErrorCode } from './errors.ts'
import type { Effect, Layer } from './policy.ts'
import type { Role } from './principal.ts'
import type { Outcome, ToolResult } from './result.ts'

/** Names of what happened; each begin, end and note carries one. */
export type EventName =
  | 'tool_started'
  | 'tool_completed'
  | 'tool_failed'
  | 'tool_denied'
  | 'aborted_tools'
  | 'permission_failed'
  | 'session_started'
  | 'session_ended'

/** Record that a call was taken up. Carries digests, never raw input. */
export interface BeginRecord {
  kind: 'begin'
  event: 'tool_started'
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
  input: string
  policy: string
  profile?: string
  decision?: { effect: Effect; layer: Layer; rule: string }
  approval?: { decision: string; preview: string; reason?: string }
  idempotencyKey?: string
  /** Id of the process that wrote it, so that a later one can tell whether it still lives. */
  writer: string
}

/** Record that a call ended. Exactly one for each begin. */
export interface EndRecord {
  kind: 'end'
  event: 'tool_completed' | 'tool_failed' | 'tool_denied' | 'aborted_tools'
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
  durationMs: number
  artifacts?: readonly string[]
}

/** Anything else worth keeping: a session's start, a failed permission callback. */
export interface NoteRecord {
  kind: 'note'
  event: EventName
  tenant: string
  session: string
  call?: string
  at: number
  message: string
}

export type EvidenceRecord = BeginRecord | EndRecord | NoteRecord

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
  /** Redacted input of a begin, redacted result of an end; its digest stands in the record. */
  body: string | null
}

/** The first thing wrong with a chain. */
export interface ChainFault {
  tenant: string
  sequence: number
  call: string
  problem:
    | 'changed'
    | 'missing'
    | 'reordered'
    | 'body_changed'
    | 'open_begin'
    | 'end_without_begin'
    | 'column_mismatch'
    | 'truncated'
  message: string
}

/** What verification found. */
export interface Verification {
  ok: boolean
  records: number
  calls: number
  fault?: ChainFault
}

/** The evidence of a runtime, as the road uses it. */
export interface Evidence {
  readonly writer: string
  /** Writes a begin. Resolves when it is durable. */
  begin(record: BeginRecord, body: string): Promise<void>
  /** Writes a begin that nobody waits for; it is durable at the latest with the next awaited record. */
  beginLazily(record: BeginRecord, body: string): void
  /** Writes what belongs together in one transaction. Resolves when it is durable. */
  end(records: readonly { record: EvidenceRecord; body: string | null }[], result: ToolResult): Promise<void>
  note(record: NoteRecord): void
  /** Resolves when everything handed over so far is durable. */
  flush(): Promise<void>
  close(): Promise<void>
}
