import type { AgentModel } from './agent-run.ts'
import type { MemoryFact, MemoryIssue, MemoryScope } from './services/memory.ts'

/** A fact, or one that a model noted and that waits. */
export interface ListedMemory extends MemoryFact {
  readonly state: 'accepted' | 'candidate'
}

/** What an extraction did. */
export interface ExtractionReport {
  /** Runs whose conversations it read. */
  readonly runs: number
  /** Facts that were found or taken. */
  readonly facts: readonly MemoryFact[]
  /** Proposals that were left out: a secret stood in them, or nothing in the conversation that they name. */
  readonly leftOut: number
  /** Runs that could not be read, and why. The next extraction tries them again. */
  readonly failed: readonly { readonly run: string; readonly message: string }[]
}

/** What an extraction reads. */
export interface ExtractionOptions {
  /** Default `local`. */
  tenant?: string
  /** The model that looks for facts. Default: that of the agents. */
  model?: AgentModel
  /** Runs at most. Default 20. */
  limit?: number
  signal?: AbortSignal
}

/** The memory of a runtime, for the program or person that operates it. */
export interface RuntimeMemory {
  /** The facts of one tenant in the order of their ids, then the candidates, and the files that are left out. Default: of `local`. */
  list(query?: {
    tenant?: string
  }): Promise<{ facts: readonly ListedMemory[]; issues: readonly MemoryIssue[] }>
  /** What a call would recall. Default project: that of the runtime. */
  recall(query: {
    query: string
    scope?: MemoryScope
    limit?: number
    tenant?: string
    project?: string
  }): Promise<readonly MemoryFact[]>
  /** Makes a candidate a fact, in a file of its own. Rejects with a SetupError for an unknown one. */
  accept(id: string, tenant?: string): Promise<MemoryFact>
  /** Forgets a candidate. Rejects with a SetupError for an unknown one. */
  reject(id: string, tenant?: string): Promise<MemoryFact>
  /**
   * Lets a model look for facts in the conversations of ended runs that it has not seen, and take or leave the candidates of these runs. Each conversation
   * is read once, also if the process is killed, or two do it.
   */
  extract(options?: ExtractionOptions): Promise<ExtractionReport>
}
