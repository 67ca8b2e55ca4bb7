/** How far a fact holds: in the project that it was kept in, or in every project of the tenant. */
export const memoryScopes = ['project', 'tenant'] as const
export type MemoryScope = (typeof memoryScopes)[number]

/** Who keeps facts. */
export const memoryWriters = ['model', 'extraction', 'person'] as const

/** Where a fact comes from, as far as it is known. */
export interface MemorySource {
  /** `model`: a call kept it; `extraction`: found in the conversation of a run; `person`: in a file of theirs. */
  readonly by: (typeof memoryWriters)[number]
  readonly actor?: string
  readonly session?: string
  /** The run of an agent, and the node of its conversation. */
  readonly run?: string
  readonly node?: string
  /** Id of the call. */
  readonly call?: string
  /** Milliseconds since the epoch. */
  readonly at?: number
}

/** One thing that is worth knowing in a later session. */
export interface MemoryFact {
  /** Also the name of its file, without the `.md`. */
  readonly id: string
  readonly content: string
  readonly scope: MemoryScope
  /** The project that it holds in, with the scope `project`. */
  readonly project?: string
  readonly tags: readonly string[]
  readonly source: MemorySource
}

/** A file of memory that is left out, and why. */
export interface MemoryIssue {
  readonly file: string
  readonly line?: number
  readonly message: string
}

/** What is looked for. */
export interface MemoryQuery {
  readonly query: string
  /** Default: both. */
  readonly scope?: MemoryScope | undefined
  readonly limit: number
}

/** What is to be kept. */
export interface NewMemory {
  readonly content: string
  readonly scope: MemoryScope
  readonly tags: readonly string[]
}

/** The memory of the tenant of a call, and of its project. What cannot be done rejects with a `ToolFailure`. */
export interface Memory {
  /** The facts that fit best, the best first. */
  recall(query: MemoryQuery): Promise<{ facts: readonly MemoryFact[]; issues: readonly MemoryIssue[] }>
  /** Keeps a candidate, or hands the fact to the memory of the host. The same candidate is kept once. */
  write(fact: NewMemory): Promise<{ id: string; state: 'candidate' | 'kept' }>
}

/** For whom a memory of a host recalls and keeps. */
export interface MemoryOwner {
  readonly tenant: string
  readonly actor: string
  /** Absolute path. */
  readonly project: string
}

/** A memory of the host's own, for the mode `external`. Each tenant must see nothing of another one; a rejection fails the call. */
export interface ExternalMemory {
  recall(query: MemoryQuery & MemoryOwner): Promise<readonly MemoryFact[]>
  /** Resolves with the id that it has there. */
  write(fact: NewMemory & MemoryOwner & { readonly source: MemorySource }): Promise<{ id: string }>
}

/** What a call may keep. */
export const memoryModes = ['disabled', 'candidate', 'external'] as const

/** Where memory is and what calls may do with it. Hand the same to `createRuntime` and to `memoryTools`. */
export interface MemoryOptions {
  /** The folder of the facts, one in each file. Absolute. Default: none, so that nothing is recalled. */
  dir?: string
  /**
   * `candidate` (default): what a model keeps is recalled when a person or the extraction took it. `disabled`: a model keeps nothing. `external`: a
   * memory of the host recalls and keeps.
   */
  mode?: (typeof memoryModes)[number]
  /** For the mode `external`. */
  external?: ExternalMemory
}

/** The call that works with memory. */
export interface MemoryCaller extends MemoryOwner {
  readonly source: MemorySource
  /** Whether a secret stands in it. */
  hasSecret(value: NewMemory): boolean
  /** Whether the call has ended, so that it changes nothing any more. */
  ended(): boolean
}

/** The memory of all tenants. */
export interface MemoryBook {
  open(caller: MemoryCaller): Memory
}
