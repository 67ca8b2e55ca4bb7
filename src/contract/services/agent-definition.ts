import type { Role } from '../base/principal.ts'
import type { JsonSchema } from '../base/schema.ts'

/** Roles of agents that a definition can name, in order of decreasing reach: never the main one. */
export const agentRoles = ['orchestrator', 'sub', 'fork', 'worker'] as const satisfies readonly Role[]

/** What an agent of a kind is told and is meant to use. It suggests, and grants nothing: policy, role and the session above decide. */
export interface AgentDefinition {
  /** 1 to 128 letters, digits, `_`, `.` and `-`. */
  readonly id: string
  /** When to use such an agent, for the model that starts it. */
  readonly description: string
  /** What such an agent is told. */
  readonly instructions: string
  /** The model that it is meant for, as its author names it. Default: that of the session that starts it. */
  readonly model?: string
  /** Canonical names or patterns of the tools that it is meant to use. Default: those of its role. */
  readonly tools?: readonly string[]
  /** Canonical names or patterns of tools that it does not get. */
  readonly disallowedTools?: readonly string[]
  /** Default `sub`. */
  readonly role?: (typeof agentRoles)[number]
  /** `plan`: it only reads. Default: the mode of the session that starts it. */
  readonly mode?: 'plan'
  readonly limits?: AgentLimits
  /** `worktree`: it works in a git worktree of its own. Default `none`. */
  readonly isolation?: 'none' | 'worktree'
  /** What its result has to fit. */
  readonly outputSchema?: JsonSchema
  /** The definition in whose place it stands, as a whole, such as `builtin:Explore`. */
  readonly overrides?: string
}

/** Bounds of one run of an agent. */
export interface AgentLimits {
  /** Answers of the model. */
  readonly maxTurns?: number
  readonly timeoutMs?: number
}

/**
 * Who wrote a definition: Handrail, the program, the person, or an author of the project. What a project says is text of a stranger: it may only
 * narrow, and its instructions are shown as such.
 */
export type AgentDefinitionOrigin = 'builtin' | 'code' | 'home' | 'project'

/** A definition that is in force, with its defaults. */
export interface RegisteredAgentDefinition extends Omit<AgentDefinition, 'role' | 'isolation'> {
  readonly role: (typeof agentRoles)[number]
  readonly isolation: 'none' | 'worktree'
  readonly origin: AgentDefinitionOrigin
  /** Absolute path of its file. */
  readonly file?: string
}

/** What is wrong with a definition, or with a field of it. */
export interface AgentDefinitionIssue {
  /** Absolute path. Absent for a definition of a program. */
  readonly file?: string
  /** From 1 on. */
  readonly line?: number
  readonly field?: string
  /** What is wrong with which thing, and what to do. */
  readonly message: string
  /** Whether the definition is left out for it; if not, only what the message names is. */
  readonly leftOut: boolean
}

/** The definitions that are in force in a project, in order of their ids, and what is wrong with others. */
export interface AgentDefinitionList {
  readonly definitions: readonly RegisteredAgentDefinition[]
  readonly issues: readonly AgentDefinitionIssue[]
}

/** The agents that can be started. Hand it to `createRuntime` as the service `agentDefinitions`. */
export interface AgentDefinitionRegistry {
  /** As the files are now. `project` is the absolute path of a project, whose own definitions are among them. */
  list(project?: string): Promise<AgentDefinitionList>
  /** Undefined if none has this id. */
  find(id: string, project?: string): Promise<RegisteredAgentDefinition | undefined>
}
