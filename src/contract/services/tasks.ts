import type { Json } from '../base/json.ts'
import type { Role } from '../base/principal.ts'

/** Where a task stands. The last three are its ends. */
export type TaskState = 'pending' | 'running' | 'completed' | 'failed' | 'cancelled'

/**
 * Where a step stands: `pending` until all that it depends on is completed, then `ready` until a worker claims it, then `running`. The last three are its
 * ends. A step whose worker let its lease run out is `ready` again.
 */
export type StepState = 'pending' | 'ready' | 'running' | 'completed' | 'failed' | 'cancelled'

/** All states of a step, in the order in which they are shown. */
export const stepStates = [
  'running',
  'ready',
  'pending',
  'failed',
  'completed',
  'cancelled',
] as const satisfies readonly StepState[]

/** For how long a claimed step is its worker's alone, in milliseconds. Each word of the worker on the step makes it as long again. */
export const leaseMs = 300_000

/** A step as its author writes it. */
export interface NewStep {
  /** Unique in its task. */
  id: string
  title: string
  description?: string | undefined
  /** Steps of the same task that have to be completed before it. */
  dependsOn?: readonly string[] | undefined
}

/** A task as its author writes it. */
export interface NewTask {
  title: string
  summary?: string | undefined
  /** Who is to do it, in words of the author. */
  owner?: string | undefined
  state?: 'pending' | 'running' | undefined
  steps?: readonly NewStep[] | undefined
  /** Tasks that have to be completed before a step of this one can be claimed. */
  dependsOn?: readonly string[] | undefined
}

/** A task without its steps. */
export interface Task {
  readonly id: string
  readonly title: string
  readonly summary?: string
  readonly owner?: string
  readonly state: TaskState
  /** Why it ended so. */
  readonly reason?: string
  readonly dependsOn: readonly string[]
  /** How many steps it has. */
  readonly steps: number
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly updatedAt: number
}

/** A step of a task. */
export interface TaskStep {
  readonly id: string
  readonly title: string
  readonly description?: string
  readonly dependsOn: readonly string[]
  readonly state: StepState
  /** How often it was claimed: the number of the claim that stands. */
  readonly attempt: number
  /** Who claimed it last. */
  readonly worker?: StepWorker
  /** While it runs: until when it is its worker's alone, in milliseconds since the epoch. */
  readonly leaseUntil?: number
  /** What its worker said of it last. */
  readonly output?: Json
  /** Why it failed, was given back or was cancelled. */
  readonly reason?: string
}

/** The session that claimed a step. */
export interface StepWorker {
  readonly session: string
  readonly actor: string
  readonly role: Role
}

/** A task, and how many of its steps stand where. */
export interface TaskCounts {
  readonly task: Task
  readonly counts: Readonly<Record<StepState, number>>
}

/** One change of a task by its author. */
export type TaskOperation =
  | {
      op: 'update_task'
      title?: string | undefined
      summary?: string | undefined
      owner?: string | undefined
      /** An end holds to the rules of `end`; any other state opens a task that has ended. */
      state?: TaskState | undefined
      addDependsOn?: readonly string[] | undefined
      removeDependsOn?: readonly string[] | undefined
      /** Tasks that are to wait for this one. */
      addBlocks?: readonly string[] | undefined
    }
  | { op: 'add_step'; step: NewStep }
  | { op: 'update_step'; step: string; title?: string | undefined; description?: string | undefined }
  | { op: 'delete_step'; step: string }
  | { op: 'add_dependency' | 'remove_dependency'; step: string; dependsOn: string }
  | { op: 'cancel_step' | 'reopen_step'; step: string; reason?: string | undefined }

/** What a worker says of a step that it claimed. */
export interface StepUpdate {
  task: string
  step: string
  /** The number of its claim. */
  attempt: number
  /** `running` is progress; `ready` hands the step back. */
  state: 'running' | 'completed' | 'failed' | 'ready'
  output?: Json | undefined
  reason?: string | undefined
}

/** The only steps that a session may claim: of one task all, or these. */
export interface StepScope {
  task: string
  /** Default: all of the task. An empty list is none. */
  steps?: readonly string[] | undefined
}

/** What came of a wish for a step. */
export interface StepClaim {
  /** Undefined if none is ready. */
  readonly step: TaskStep | undefined
  /** Whether steps run or wait, so that one may be ready later. */
  readonly more: boolean
}

/** Which steps are meant. */
export interface StepQuery {
  /** Default: all. */
  state?: StepState | undefined
  /** Only these of them. */
  ids?: readonly string[] | undefined
  limit: number
  offset: number
}

/** Which tasks are meant. */
export interface TaskQuery {
  state?: TaskState | undefined
  /** Whether tasks that have ended are among them. */
  ended: boolean
  limit: number
  offset: number
}

/**
 * The tasks of the tenant and actor of the call, in whatever session they were made. What cannot be done changes nothing and rejects with a `ToolFailure`:
 * `unknown_task`, `unknown_step`, `step_exists`, `too_many_steps`, `dependency_cycle`, `dependency_needed`, `step_not_ready`, `step_started`,
 * `step_not_allowed`, `claim_lost`, `task_ended`, `steps_open`.
 */
export interface Tasks {
  create(task: NewTask): Promise<TaskCounts>
  find(id: string): TaskCounts
  /** The newest first. `more`: whether others come behind these. */
  list(query: TaskQuery): { tasks: Task[]; more: boolean }
  /** In the order of `stepStates`, and then in that in which they were added. `more`: whether others come behind these. */
  steps(task: string, query: StepQuery): { steps: TaskStep[]; more: boolean }
  /** All operations or none. */
  update(task: string, operations: readonly TaskOperation[]): Promise<TaskCounts>
  /** Claims this step for the session, or any that is ready. No step is claimed twice at a time, whatever the process. */
  claim(task: string, step?: string): Promise<StepClaim>
  /** Changes nothing unless the claim of this number is the session's own and still stands. */
  updateStep(update: StepUpdate): Promise<TaskStep>
  /** `completed` needs all steps completed or cancelled. No step of a task that has ended can be claimed or updated. */
  end(task: string, state: 'completed' | 'failed' | 'cancelled', reason?: string): Promise<TaskCounts>
}

/** Whose tasks are meant. Default: those of the actor `user` of the tenant `local`. */
export interface TaskOwner {
  tenant?: string
  actor?: string
}

/** A task with all its steps. */
export interface WholeTask extends TaskCounts {
  readonly steps: readonly TaskStep[]
}

/** The tasks in a store, as a person or program looks at them. Calls change them. */
export interface AgentTasks {
  /** The newest first, at most 100 unless said otherwise; without those that have ended, unless they are asked for. */
  list(query?: TaskOwner & { ended?: boolean; limit?: number }): readonly Task[]
  /** Undefined if this actor has no such task. */
  find(id: string, owner?: TaskOwner): WholeTask | undefined
}

/** The call that works with tasks. */
export interface TaskCaller extends StepWorker {
  readonly tenant: string
  /** A step that it claims has to lie in each of these. */
  readonly claims: readonly StepScope[]
  /** Takes secrets out of what is kept. */
  readonly redact: <T>(value: T) => T
  /** Whether the call has ended, so that it changes nothing any more. */
  readonly ended: () => boolean
}

/** The tasks of all tenants. */
export interface TaskBook {
  open(caller: TaskCaller): Tasks
}
