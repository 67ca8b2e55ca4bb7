import type { JsonSchema } from './schema.ts'
import type { CallError } from './errors.ts'
import type { Json } from './json.ts'

/** What a call wants an agent to do. */
export interface ChildWish {
  /** `fork` starts from the conversation of the agent that makes the call. */
  readonly kind: 'sub' | 'fork' | 'worker'
  readonly task: string
  /** Id of an agent definition. Default: none; the agent is told its task alone. */
  readonly definition?: string | undefined
  /** Names or patterns. Default: what its definition suggests and its role has. */
  readonly allowedTools?: readonly string[] | undefined
  /** Its last answer has to be JSON of this schema. */
  readonly output?: JsonSchema | undefined
  readonly timeoutMs?: number | undefined
  readonly maxTurns?: number | undefined
  /** Name of a model that the host knows. Default: that of the definition, or of the agent that makes the call. */
  readonly model?: string | undefined
  /** Whether the call returns as soon as the agent runs. It runs on until its session is closed. */
  readonly background?: boolean | undefined
  /** `worktree`: it has a git worktree of its own, which is all that it may write. Default: what its definition says. */
  readonly isolation?: 'none' | 'worktree' | undefined
}

/** An agent that a session started, as it is now. */
export interface ChildReport {
  /** Id of its run. */
  readonly agent: string
  /** Id of its definition. */
  readonly definition?: string
  readonly state: 'running' | 'ended'
  /** Absent while it runs, and if its process was ended. */
  readonly endReason?: string
  /** Its last text. */
  readonly text: string
  readonly output?: Json
  readonly turns: number
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number; readonly cost?: number }
  readonly error?: CallError
  /** Id of a pending approval that it waits for, if it ended for that. */
  readonly waiting?: string
  /** The worktree that it works in, or that was kept when it ended because there is work in it. `path` is relative to the project. */
  readonly worktree?: { readonly path: string; readonly branch: string | null }
}

/** Agents that calls of a session start: each has a session of its own below it, and can do what that one may, or less. */
export interface ChildAgents {
  /**
   * Starts an agent and resolves when it has ended; with `background`, as soon as it runs, as a job of the session. A call that is made again under the same `toolCallId` goes on with
   * the agent that it started, if that one was cut off or waited. Rejects with a `ToolFailure`: `unknown_definition`, `no_model`, `no_isolation`, `no_conversation`; `QUOTA.BUDGET_EXCEEDED`, `agents`.
   */
  start(wish: ChildWish): Promise<ChildReport>
  /** An agent that this session started. Rejects with a `ToolFailure` (`unknown_agent`) for any other. */
  inspect(agent: string): Promise<ChildReport>
}
