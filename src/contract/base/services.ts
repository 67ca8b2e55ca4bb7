import type { ChildAgents } from './child-agents.ts'
import type { AgentDefinitionRegistry } from './agent-definition.ts'
import type { Artifacts } from './artifacts.ts'
import type { SessionResources } from './session-resources.ts'
import type { PastCalls } from './history.ts'
import type { Instructions } from './instructions.ts'
import type { Jobs } from './job.ts'
import type { Network, Pages } from './network.ts'
import type { PlanMode } from './plan-mode.ts'
import type { Commands, Files, Search } from './sandbox.ts'
import type { Todos } from './todo.ts'
import type { Tasks } from './tasks.ts'
import type { ToolSearch } from './tool-search.ts'

/**
 * What a tool may name in `needs` and then finds in its context. Extend it by declaration merging
 * for services that you hand to `createRuntime({ services })`.
 */
export interface Services {
  /** Files inside the call's roots. */
  files: Files
  /** Search inside the call's roots. */
  search: Search
  /** Programs that the call's profile allows. */
  commands: Commands
  /** Commands that outlast their call: those of the session. */
  jobs: Jobs
  /** Programs that tools of the session talk to from one call to the next. */
  sessionResources: SessionResources
  /** Where files that tell how to work in a project are named. */
  instructions: Instructions
  /** What earlier calls of the same caller left as artifacts. */
  artifacts: Artifacts
  /** What earlier calls of the same tenant made of files, for undo. */
  pastCalls: PastCalls
  /** Agents that calls of the session start. */
  agents: ChildAgents
  /** Tasks and their steps: those of the same tenant and actor. */
  tasks: Tasks
  /** Servers that the call's profile covers. */
  network: Network
  /** Text of HTML pages. */
  pages: Pages
  /** The agents that can be started: those that the host handed in, else those of Handrail alone. */
  agentDefinitions: AgentDefinitionRegistry
  /** Whether the session only plans. */
  planMode: PlanMode
  /** What the agent of the session has to do. */
  todos: Todos
  /** The tools that models are not shown until they are found. */
  toolSearch: ToolSearch
}

/** The services that every runtime has. What else there is, its host hands to it. */
export const ownServices = [
  'files',
  'search',
  'commands',
  'network',
  'pages',
  'jobs',
  'sessionResources',
  'instructions',
  'artifacts',
  'pastCalls',
  'agents',
  'planMode',
  'todos',
  'tasks',
  'toolSearch',
] as const satisfies readonly (keyof Services)[]
