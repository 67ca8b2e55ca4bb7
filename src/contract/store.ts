import type { ArtifactPart } from './services/artifacts.ts'
import type { EndRecord, EvidenceRecord, StoredRecord } from './evidence.ts'
import type { Json } from './base/json.ts'
import type { Document, DocumentChange, DocumentQuery } from './documents.ts'
import type { Artifact } from './base/result.ts'
import type { ArtifactSink } from './services/sandbox.ts'

/** One record on its way into the store. */
export interface Entry {
  record: EvidenceRecord
  body: string | null
  /** The JSON text of the record, if its maker has it already. */
  text?: string
}

/** What came of a request for an idempotency key. */
export type KeyClaim = { state: 'claimed' } | KeyHeld

/** What became of the call that has a key. */
export type KeyHeld =
  /** Ended before: its begin, and the stored result as JSON text. */
  | { state: 'ended'; call: string; begin: Pick<StoredRecord, 'text' | 'body'>; result: string }
  /** Begun and not ended, by this or another live process. */
  | { state: 'running'; call: string }
  /** Begun by a process that died. */
  | { state: 'unknown'; call: string }
  /** Used with another input. */
  | { state: 'conflict'; call: string }

/** Kinds of facts that outlive a process and decide about later calls. */
export type FactKind = 'abort' | 'approval' | 'consent' | 'pause' | 'pin' | 'session' | 'tool'

/** One such fact, unique by tenant, kind and id. Its value is JSON that the room that owns the kind reads and writes. */
export interface Fact {
  tenant: string
  kind: FactKind
  id: string
  value: Json
}

/** A fact to keep, or with `value` undefined one to forget. */
export type FactChange = Omit<Fact, 'value'> & {
  value: Json | undefined
  /**
   * What it has to be until then, as `facts` returned it; null if it must not be there. If another writer was faster, nothing of what is written with
   * it is, and the reason of the error is `fact_changed`. Absent: it may be anything.
   */
  was?: Json
}

/** A fact that changed: as it is now, or undefined for one that is gone. */
export interface ChangedFact extends Omit<Fact, 'value'> {
  readonly fact: Fact | undefined
}

/** What a call wants of one account: some units of one budget, in one window of time. */
export interface ReservationItem {
  /** Names the budget, whom it counts for, and the start of the window. */
  account: string
  /** What may be spent from the account at most. */
  limit: number
  /** So many units are wanted; at least `least` of them are of use. Whole numbers. */
  units: number
  least: number
  /** When the window ends, in milliseconds since the epoch; `Infinity` for a budget in total. */
  endsAt: number
}

export interface BudgetRequest {
  call: string
  tenant: string
  /** Milliseconds since the epoch. */
  at: number
  /** The reservation of a process that dies is void from then on. A living process keeps its own alive. */
  leaseMs: number
  items: readonly ReservationItem[]
}

/** All items at once, or none. */
export type BudgetAnswer =
  /** Units given for each item, in order. */
  | { state: 'reserved'; given: readonly number[] }
  /** The first item whose account has too few units left. */
  | { state: 'refused'; item: number; left: number }

/** What a call really spent: replaces its reservation. Accounts that are not named spent nothing. */
export interface BudgetSettlement {
  call: string
  /** Less than no units give some back. `endsAt` is needed where this process has reserved nothing from the account. */
  spent: readonly { account: string; units: number; endsAt?: number }[]
}

/** What is written together with records, in the same transaction. */
export interface Changes {
  facts?: readonly FactChange[]
  documents?: readonly DocumentChange[]
  settle?: readonly BudgetSettlement[]
  /** What a person found out about a call whose outcome was unknown; its key answers accordingly from then on. */
  resolve?: readonly KeyResolution[]
  /**
   * Whether the caller is answered as soon as every process on the store reads what was written: a process that is killed then loses nothing of it. On
   * the disk it is with the next append without this, at the latest, whichever process makes that. For what is of no use before such a one, such as
   * what a call writes before its end. It counts for nothing with records, and a store may ignore it. Default false.
   */
  early?: boolean
}

/**
 * `happened`: the effect is there, the key answers with `result` (JSON text of a result) from now on. `not_happened`: the key is free
 * again.
 */
export interface KeyResolution {
  tenant: string
  call: string
  outcome: 'happened' | 'not_happened'
  result: string
}

export interface KeyUse {
  tenant: string
  tool: string
  /** A digest: of the key as it was given, and of the actor who gave it. */
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
  /** Begins and ends of calls of tools whose name this pattern fits. */
  tool?: string
  /** Begins of calls, and notes, of this actor. */
  actor?: string
  /** Ends with this outcome. */
  outcome?: EndRecord['outcome']
  /** Begins of calls that have no end. */
  open?: true
  /** Notes of this event. */
  event?: string
  /** Records that were made then or later, in milliseconds since the epoch. */
  since?: number
  /** Records that were made before then. */
  until?: number
  /** Records after this sequence. */
  after?: number
  /** Records before this sequence. */
  before?: number
  limit?: number
  newestFirst?: boolean
}

/** Which ends of calls are counted: those that were made in this time, in milliseconds since the epoch. */
export interface EndsQuery {
  tenant: string
  /** From then on. */
  since: number
  /** Before then. */
  until: number
  /** Of records after this sequence. */
  after?: number
  /** Of records before this sequence. */
  before?: number
}

/** So many calls of a tool ended so. */
export interface CountedEnds {
  tool: string
  outcome: EndRecord['outcome']
  calls: number
  /** How long they took. Above 100 ms, two digits are told of it. */
  durationMs: number
}

/**
 * Where evidence and keys live. Records of one tenant form one chain, ordered by sequence; the store assigns sequence
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
   * Resolves when they are durable; rejects when nothing of them was written. A store that waits for nothing may write before it returns, and return
   * undefined then. Whatever the process, an end without its begin is rejected, and so
   * are a second end and a second `outcome_resolved` of a call, and a change of a fact or document that is not as `was` says.
   */
  append(entries: readonly Entry[], changes?: Changes): Promise<void> | undefined
  /** Why the store takes no records, such as a chain that was found broken when it was opened, or since; undefined if it does. */
  readonly readOnly: string | undefined
  /**
   * Why the store takes no records right now, such as a full disk, in words for everybody: without paths, names or values. Undefined when it takes
   * them; a store that does not know has no such field.
   */
  readonly trouble?: string | undefined
  /** Records in sequence order of each tenant. */
  records(query: RecordQuery): IterableIterator<StoredRecord>
  /** The ends of a time by tool, outcome and how long they took, counted without reading them. */
  countEnds(query: EndsQuery): CountedEnds[]
  tenants(): string[]
  /**
   * Names a text that must not be guessable from its name: its HMAC-SHA-256 under a secret that only this store has, as 43 characters of
   * base64url. The secret is made once, is the same for every process on the store, and leaves it neither in records nor in exports.
   */
  digest(text: string): string
  /**
   * The last sequence and hash of a tenant's chain as the store keeps it beside the records, to find a cut-off end; and how many of its
   * records lost their body by `prune`, or came without one, if the store counts that.
   */
  head(tenant: string): { sequence: number; hash: string; bodiless?: number } | undefined
  /**
   * In words, what beside the chains is missing, or was not written by a process with the key of the store: heads, facts, documents, keys, budgets.
   * Empty for a store that no other process can write to. Reads all of it.
   */
  examine(): readonly string[]
  /** Whether the process that writes under this identity may still run calls; false if the store does not know it. */
  lives(writer: string): boolean
  /** Calls that were begun by processes that are gone and never ended. */
  orphans(): { tenant: string; call: string }[]
  /** What became of the call that has this key; undefined while the key is free. Takes nothing. */
  findKey(use: KeyUse): KeyHeld | undefined
  /** Takes a key for a call, or says what became of it. */
  claimKey(use: KeyUse): KeyClaim
  /** All facts of a kind, of one tenant or of all. One that is given again as the same object says the same. */
  facts(kind: FactKind, tenant?: string): Fact[]
  /** Another value as soon as any process changed a fact. Cheap: asked before every call. */
  factsVersion(): number
  /**
   * The documents that fit, in order, found by index: the others are not read. Throws a `TypeError` for an id without its group. `prune` leaves
   * documents alone: the room that owns a kind removes what it needs no more.
   */
  documents(query: DocumentQuery): Document[]
  /**
   * The facts of a kind that changed since this version, each once, and the version that is reached with them. Costs as much as what changed, whatever
   * else there is. Undefined if the store does not know so far back: then `facts` has all.
   */
  factsSince(
    kind: FactKind,
    version: number,
  ): { version: number; changed: readonly ChangedFact[] } | undefined
  /** Takes units from all accounts of a call, or from none. No two callers can be given more than a limit, whatever their process. */
  reserve(request: BudgetRequest): BudgetAnswer
  /** Releases the whole reservation of a call that will not run. */
  refund(call: string): void
  /**
   * What was spent from an account, and what is reserved in it right now: for calls that run, and by other processes for their next calls, if
   * the store lets a process take some in advance.
   */
  balance(account: string, at: number): { spent: number; reserved: number }
  /** How many bodies `prune` would remove. */
  countPrunable(before: { tenant?: string; at: number }): number
  /** Removes the bodies of records that are older, keeping the records. Returns their number. */
  prune(before: { tenant?: string; at: number }): number
  close(): Promise<void>
}

/** Large and binary outputs by digest. */
export interface ArtifactStore extends ArtifactSink {
  put(bytes: Uint8Array, about: { mimeType: string; name?: string }): Promise<Artifact>
  /** Undefined if there is none. Checks the digest. */
  get(digest: string): Promise<Uint8Array | undefined>
  /**
   * A part of one, in memory for that part, and how many bytes it has in all; less than asked for at its end. Undefined if there is none.
   * Checks the digest of the whole, at least when it is first read and when it was changed since.
   */
  read(digest: string, part: ArtifactPart): Promise<{ bytes: Uint8Array; total: number } | undefined>
  /** Removes those that were stored before a time, in milliseconds since the epoch, and may go. Returns their number. */
  prune(about: { at: number; mayGo: (digest: string) => boolean }): Promise<number>
}
