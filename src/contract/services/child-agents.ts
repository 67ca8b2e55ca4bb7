import type { JsonSchema } from '../base/schema.ts'
import type { CallError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { TeamPlace } from './teams.ts'

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
  /** `plan`: it only reads. Default: as its definition says, and never wider than the session above. */
  readonly mode?: 'plan' | undefined
  /** Id of an agent of this session that has ended: it goes on as what it was, with its conversation, and the task is what it is told next. */
  readonly resume?: string | undefined
  /** A place in a team of the session. Default: it is in none. */
  readonly team?: TeamPlace | undefined
}

/** What a worker is to do. */
export interface WorkerOrder {
  /** Id of a task: the worker claims no steps of another one. */
  readonly task: string
  /** The only steps that it may claim. Default: all of the task. */
  readonly steps?: readonly string[] | undefined
  readonly instruction: string
  /** What it has to know beside its instruction. */
  readonly context?: string | undefined
  /** Id of a pool. Default: that of the worker, or the first pool. */
  readonly pool?: string | undefined
  /** Id of a worker of the pool. Default: any that is idle. */
  readonly worker?: string | undefined
  /** Names or patterns of tools beside those that every worker has. Default: those of its pool and definition. */
  readonly allowedTools?: readonly string[] | undefined
}

/** Workers of one kind, and how many of them there are. */
export interface WorkerPool {
  readonly id: string
  readonly description?: string
  /** Id of an agent definition. */
  readonly definition?: string
  readonly workers: readonly Worker[]
}

/** A worker of a pool, as it is now. */
export interface Worker {
  readonly id: string
  readonly state: 'idle' | 'busy'
  /** Of one that is busy for this session: the id of its run, and its task. */
  readonly agent?: string
  readonly task?: string
}

/** What became of a worker. */
export interface WorkerReport extends ChildReport {
  readonly worker: string
  readonly pool: string
  /** Steps that it had claimed and not closed: they have failed, or are ready again if it was aborted. */
  readonly left: readonly { readonly step: string; readonly state: 'failed' | 'ready' }[]
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
   * the agent that it started, if that one was cut off or waited. Rejects with a `ToolFailure`: `unknown_definition`, `no_model`, `no_isolation`, `no_conversation`; with `resume`
   * `unknown_agent`, `other_definition`, `agent_running`, `agent_waits`, `agent_pruned`; `QUOTA.BUDGET_EXCEEDED`, `agents`.
   */
  start(wish: ChildWish): Promise<ChildReport>
  /** An agent that this session started. Rejects with a `ToolFailure` (`unknown_agent`) for any other. */
  inspect(agent: string): Promise<ChildReport>
  /**
   * Starts a worker for steps of a task, and resolves when it has ended. Goes on with it as `start` does. Rejects with a `ToolFailure` also for
   * `unknown_pool`, `unknown_worker`, `workers_busy`, `unknown_task`, `unknown_step`, `task_ended`.
   */
  dispatch(order: WorkerOrder): Promise<WorkerReport>
  /** All pools, or this one. */
  pools(pool?: string): Promise<readonly WorkerPool[]>
}
