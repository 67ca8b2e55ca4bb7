import type {
  AgentModel,
  AgentRun,
  RunEndReason,
  RunEvent,
  TranscriptNode,
} from '../../contract/agent-run.ts'
import type { CallError } from '../../contract/base/errors.ts'
import type { SchemaChecker } from '../../contract/base/schema.ts'
import type { PendingApprovals } from '../../contract/pending-approval.ts'
import type { RegisteredAgentDefinition } from '../../contract/services/agent-definition.ts'
import type { Session, SessionNarrowing, SessionOptions } from '../../contract/runtime.ts'
import type { Store } from '../../contract/store.ts'
import type { ModelCalls } from '../../doors/language-model/open-model-calls.ts'
import type { RunBrief } from './brief.ts'
import type { Mailboxes } from '../teams/create-mailboxes.ts'
import type { KeptRun, RunBook, RunParent, SavedWith } from './run-book.ts'

/** What runs stand on. */
export interface RunPorts {
  readonly book: RunBook
  readonly store: Store
  readonly checker: SchemaChecker
  readonly approvals: PendingApprovals
  /** What other agents write to those of runs. */
  readonly mailboxes: Mailboxes
  now(): number
  /** Takes out secrets, such as the key that a provider repeats when it refuses it. */
  readonly redact: <T>(value: T) => T
  /** `id` is for a session below another one, which has none of its own; `worktree` is what it is held to. */
  readonly openSession: (
    options: SessionOptions,
    place?: { readonly id?: string; readonly worktree?: string | undefined },
  ) => Session
  /** Whether a person is asked in this process. */
  hasApprover(session: Session): boolean
  /** What the model of a session is told of its skills; undefined if it can load none. */
  describeSkills(session: Session): Promise<string | undefined>
  /** The budgets of the policy. */
  readonly account: ModelAccount
  /** The project of the tenant of a session. */
  readonly projectOf: (session: Session) => string
  /** What narrows the tools of a session. */
  readonly narrowingOf: (session: Session) => SessionNarrowing
  /** Told when a run starts; returns what is called when it has ended. */
  follow(run: AgentRun, open: OpenRun): () => void
  /** Told of what was kept of a run, once it is durable: all of its nodes when it starts or goes on, then those that come. */
  kept(run: OpenRun, nodes: readonly TranscriptNode[]): void
  /** Told of what happens in a run. */
  told(run: OpenRun, event: RunEvent): void
  /** Goes on with the agents that a run had in the background when it was interrupted. */
  resumeAgents(run: OpenRun): Promise<void>
}

/** Where a run stands that a call or a schedule started. */
export interface RunPlace {
  readonly id: string
  /** Absent for the run of a schedule. */
  readonly parent?: RunParent
  /** What the agent is, if its call named that. */
  readonly definition?: RegisteredAgentDefinition | undefined
  /** What it begins with, from the conversation of another agent. */
  readonly nodes: readonly TranscriptNode[]
  /** Absolute path of the worktree that it is held to. */
  readonly worktree: string | undefined
}

/** The budgets of tokens and money. */
export interface ModelAccount {
  /** Takes what an answer may spend, or says why it may not be asked for. `id` is of this request alone. */
  reserve(session: Session, request: { id: string; estimate: () => ModelUse }): HeldUse | CallError
}

/** What an answer of a model takes; `cost` is undefined without a price. */
export interface ModelUse {
  readonly tokens: number
  readonly cost: number | undefined
}

export interface HeldUse {
  settle(use: () => ModelUse): Promise<void>
  release(): void
}

/** A run while it goes. */
export interface OpenRun {
  readonly id: string
  readonly ports: RunPorts
  readonly session: Session
  readonly model: AgentModel
  readonly calls: ModelCalls
  readonly wait: boolean
  readonly signal: AbortSignal
  readonly nodes: TranscriptNode[]
  /** Whether the calls of its last answer may have been begun by a process that is gone. */
  isCutOff: boolean
  kept: KeptRun
  /** What the model was told last beside the conversation. */
  brief: RunBrief
  readonly definition: RegisteredAgentDefinition | undefined
  readonly tell: (event: RunEvent) => void
  /** Adds nodes and changes what is kept, in one write; with the brief, if it has changed. */
  save(change: Partial<KeptRun>, added?: readonly NewNode[], how?: SaveHow): Promise<void>
}

/** How nodes are added. */
export interface SaveHow extends Partial<Pick<SavedWith, 'note' | 'documents'>> {
  /** Whether they need not be on the disk before what follows of them is, such as the begin of a call. Default false. */
  readonly early?: boolean
}

type Without<Node> = Node extends TranscriptNode ? Omit<Node, 'id' | 'at'> : never
export type NewNode = Without<TranscriptNode>

/** How a run ends. */
export interface RunEnd {
  readonly endReason: RunEndReason
  readonly error?: CallError
}
