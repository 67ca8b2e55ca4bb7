import type { CodeMode } from '../services/code-mode.ts'
import type { ChildAgents } from '../services/child-agents.ts'
import type { AgentDefinitionRegistry } from '../services/agent-definition.ts'
import type { Artifacts } from '../services/artifacts.ts'
import type { SessionResources } from '../services/session-resources.ts'
import type { PastCalls } from '../services/history.ts'
import type { Instructions } from '../services/instructions.ts'
import type { Jobs } from '../services/job.ts'
import type { Memory } from '../services/memory.ts'
import type { Json } from '../base/json.ts'
import type { Network, Pages } from '../services/network.ts'
import type { PartCalls } from './part-calls.ts'
import type { PlanMode } from '../services/plan-mode.ts'
import type { Commands, Files, Search } from '../services/sandbox.ts'
import type { SkillRegistry, Skills } from '../services/skill.ts'
import type { Todos } from '../services/todo.ts'
import type { Schedules } from '../services/schedules.ts'
import type { Tasks } from '../services/tasks.ts'
import type { Teams } from '../services/teams.ts'
import type { ToolSearch } from '../services/tool-search.ts'

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
  /** Programs that call the tools of the session. */
  codeMode: CodeMode
  /** Tasks and their steps: those of the same tenant and actor. */
  tasks: Tasks
  /** What runs at times: that of the same tenant and actor. */
  schedules: Schedules
  /** What earlier sessions kept: that of the same tenant and project. */
  memory: Memory
  /** Teams of agents that send each other messages. */
  teams: Teams
  /** Servers that the call's profile covers. */
  network: Network
  /** Text of HTML pages. */
  pages: Pages
  /** The agents that can be started: those that the host handed in, else those of Handrail alone. */
  agentDefinitions: AgentDefinitionRegistry
  /** What models set for the same tenant and actor, by key. */
  modelSettings: ModelSettings
  /** The skills that there are: those that the host handed in, else none. */
  skillRegistry: SkillRegistry
  /** The skills of the session: those that there are, and those that it follows. */
  skills: Skills
  /** Calls that a call makes as parts of itself. */
  parts: PartCalls
  /** Whether the session only plans. */
  planMode: PlanMode
  /** What the agent of the session has to do. */
  todos: Todos
  /** The tools that models are not shown until they are found. */
  toolSearch: ToolSearch
}

/** Values of settings that the operator opened to models. Who reads or writes one holds it against what the operator declared. */
export interface ModelSettings {
  /** Undefined if none was set. */
  read(key: string): Json | undefined
  /** Resolves when it is durable. Nothing is written for a call that has ended. */
  write(key: string, value: Json): Promise<void>
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
  'skills',
  'todos',
  'tasks',
  'schedules',
  'memory',
  'modelSettings',
  'teams',
  'parts',
  'toolSearch',
  'codeMode',
] as const satisfies readonly (keyof Services)[]
