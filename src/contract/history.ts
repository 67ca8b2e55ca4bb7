import type { EffectHistory } from './base/effects.ts'
import type { PastCall } from './services/history.ts'

/** The call that a history is kept for. */
export interface RecordedCall {
  readonly call: string
  readonly tool: string
  readonly session: string
  readonly tenant: string
  readonly actor: string
  /** Absolute path of the project root. */
  readonly project: string
  /** Milliseconds since the epoch. */
  readonly at: number
}

/** The history of one call. Nothing is written before its first effect. */
export interface CallHistory extends EffectHistory {
  /** Says which calls it takes back, before its first effect. */
  takesBack(calls: readonly string[]): void
  /** Notes that it has. Never rejects: without the note, what is as it was before tells as much. */
  tookBack(): Promise<void>
}

/** Which calls are listed. */
export interface PastCallQuery {
  readonly tenant: string
  /** Id of a session: what was made before it was opened is left out. */
  readonly after?: string | undefined
  readonly call?: string | undefined
}

/** What calls replaced or removed, kept for a while. Failures are `PROVIDER.UNAVAILABLE / history_failed`. */
export interface History {
  /** The folder in which all of it lies: no call reaches it. */
  readonly place: string
  /** How long a call can be taken back at most, in days. */
  readonly days: number
  open(call: RecordedCall): CallHistory
  /** The newest first. */
  list(query: PastCallQuery): Promise<PastCall[]>
  /** Whether what had this digest is kept for the tenant. */
  has(tenant: string, digest: string): Promise<boolean>
  /** Rejects at its end if it is not what it was. */
  read(tenant: string, digest: string): AsyncIterable<Uint8Array>
  close(): Promise<void>
}
