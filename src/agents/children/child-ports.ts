import type { StartingAgent } from '../../contract/agent-host.ts'
import type { AgentModel, ModelPrice } from '../../contract/agent-run.ts'
import type { AgentDefinitionRegistry } from '../../contract/services/agent-definition.ts'
import type { Tasks } from '../../contract/services/tasks.ts'
import type { WorkerPoolConfiguration } from '../../contract/configuration.ts'
import type { Session } from '../../contract/runtime.ts'
import type { OpenRun, RunPorts } from '../loop/run-state.ts'
import type { TeamBook } from '../teams/create-team-book.ts'

/** A model, and what it costs if that is known. */
export interface PricedModel {
  readonly model: AgentModel
  readonly price?: ModelPrice | undefined
}

/** What the agents of calls stand on. */
export interface ChildPorts extends RunPorts {
  /** Agents that one session may start in all. */
  readonly childrenPerSession: number
  /** Undefined if the host has none. */
  readonly definitions: AgentDefinitionRegistry | undefined
  readonly worktrees: AgentWorktrees
  /** The model of this name, or the one to take if none is named. */
  findModel(name: string | undefined): PricedModel | undefined
  /** The run that a session works for right now. */
  runOf(session: Session): OpenRun | undefined
  readonly teams: TeamBook
  readonly workerPools: { readonly [pool: string]: WorkerPoolConfiguration }
  /** The tasks of the user of a session, as a session of this id has them. */
  tasksOf(session: Session, id: string): Tasks
  /** Makes a job of the session of an agent, and starts it. */
  readonly hold: (session: Session, agent: StartingAgent) => Promise<void>
  /** Tells the operator what went wrong if no call can say so. */
  report(agent: string, cause: unknown): void
}

/** The git worktrees of a tenant's project that agents work in. */
export interface AgentWorktrees {
  /** The worktree of this name, as it is; undefined if there is none, or not a whole one. */
  find(tenant: string, name: string): Promise<AgentWorktree | undefined>
  /** Removes a worktree and its branch, if nothing is lost by that, and says so in the evidence. Returns what is there if it was kept, such as for changes. */
  clear(tenant: string, name: string, about: ClearedWorktree): Promise<AgentWorktree | undefined>
  /** Forgets what was opened for it. */
  leave(path: string): Promise<void>
}

export interface AgentWorktree {
  /** Absolute path. */
  readonly path: string
  readonly branch: string | null
}

/** How far a worktree came that is not needed any more. */
export interface ClearedWorktree {
  /** `new`: no agent has begun to work in it. `clearing`: it had no work, and its removal was cut off. */
  readonly state: 'new' | 'used' | 'clearing'
  /** Called before it is removed. */
  clearing(): Promise<void>
}
