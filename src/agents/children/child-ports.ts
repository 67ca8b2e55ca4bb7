import type { AgentModel } from '../../contract/agent-run.ts'
import type { AgentDefinitionRegistry } from '../../contract/base/agent-definition.ts'
import type { Tasks } from '../../contract/base/tasks.ts'
import type { WorkerPoolConfiguration } from '../../contract/configuration.ts'
import type { Session } from '../../contract/runtime.ts'
import type { OpenRun, RunPorts } from '../loop/run-state.ts'
import type { TeamBook } from '../teams/create-team-book.ts'

/** What the agents of calls stand on. */
export interface ChildPorts extends RunPorts {
  /** Agents that one session may start in all. */
  readonly childrenPerSession: number
  /** The project of the tenant of a session. */
  readonly projectOf: (session: Session) => string
  /** Undefined if the host has none. */
  readonly definitions: AgentDefinitionRegistry | undefined
  /** The model of this name, or the one to take if none is named. */
  findModel(name: string | undefined): AgentModel | undefined
  /** The run that a session works for right now. */
  runOf(session: Session): OpenRun | undefined
  readonly teams: TeamBook
  readonly workerPools: { readonly [pool: string]: WorkerPoolConfiguration }
  /** The tasks of the user of a session, as a session of this id has them. */
  tasksOf(session: Session, id: string): Tasks
}
