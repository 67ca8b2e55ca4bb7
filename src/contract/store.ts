import type { EvidenceRecord, StoredRecord } from './evidence.ts'
import type { Artifact } from './result.ts'
import type { ArtifactSink } from './sandbox.ts'

/** One record on its way into the store. */
export interface Entry {
  record: EvidenceRecord
  body: string | null
}

/** What came of the wish to have an idempotency key. */
export type KeyClaim = { state: 'claimed' } | KeyHeld

/** What became of the call that has a key. */
export type KeyHeld =
  /** Ended before: the stored result, as JSON text. */
  | { state: 'ended'; call: string; result: string }
  /** Begun and not ended, by this or another live process. */
  | { state: 'running'; call: string }
  /** Begun by a process that died. */
  | { state: 'unknown'; call: string }
  /** Used with another input. */
  | { state: 'conflict'; call: string }

export interface KeyUse {
  tenant: string
  tool: string
  key: string
  inputDigest: string
  call: string
  at: number
  windowMs: number
}

export interface RecordQuery {
  tenant?: string
  session?: string
  call?: string
  kind?: EvidenceRecord['kind']
  /** Records after this sequence. */
  after?: number
  limit?: number
  newestFirst?: boolean
}

/**
 * Where evidence and keys live. Records of one tenant form one chain, ordered by sequence; the store gives sequence
 * and hash inside the transaction that writes the record, so that several processes can share it.
 */
export interface Store {
  /** Where and what, in one line, such as `sqlite /home/me/.handrail/store.db`. */
  readonly description: string
  /** Identity of this process among those that write. */
  readonly writer: string
  /** True for a store that survives the process. */
  readonly durable: boolean
  /**
   * Writes the entries in this order, all or none, together with what other callers hand in at the same time.
   * Resolves when they are durable; rejects when nothing of them was written.
   */
  append(entries: readonly Entry[]): Promise<void>
  /** Records in sequence order of each tenant. */
  records(query: RecordQuery): IterableIterator<StoredRecord>
  tenants(): string[]
  /** The last sequence and hash of a tenant's chain as the store keeps it beside the records, to find a cut-off end. */
  head(tenant: string): { sequence: number; hash: string } | undefined
  /** Calls that were begun by processes that are gone and never ended. */
  orphans(): { tenant: string; call: string }[]
  /** What became of the call that has this key; undefined while the key is free. Takes nothing. */
  findKey(use: KeyUse): KeyHeld | undefined
  /** Takes a key for a call, or says what became of it. */
  claimKey(use: KeyUse): KeyClaim
  close(): Promise<void>
}

/** Large and binary outputs by digest. */
export interface ArtifactStore extends ArtifactSink {
  put(bytes: Uint8Array, about: { mimeType: string; name?: string }): Promise<Artifact>
  /** Undefined where there is none. Checks the digest. */
  get(digest: string): Promise<Uint8Array | undefined>
}
