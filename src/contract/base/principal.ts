/** What kind of agent makes a call. */
export type Role = 'main' | 'orchestrator' | 'sub' | 'fork' | 'worker'

/** All roles, in order of decreasing reach. */
export const roles = ['main', 'orchestrator', 'sub', 'fork', 'worker'] as const satisfies readonly Role[]

/** Who makes a call. */
export interface Principal {
  tenant: string
  actor: string
  role: Role
  /** The agent behind the call, and who started it; shown to the person who is asked. */
  agent?: { agentId: string; runId: string; parentAgentId?: string; parentRunId?: string }
}

/** A session above another one: that one may do what this one may, or less. */
export interface Ancestor {
  /** Id of the session. */
  session: string
  principal: Principal
  mode: Mode
}

/** How much a session may do without asking. `bypass` must be allowed by the policy. */
export type Mode = 'default' | 'plan' | 'accept-edits' | 'bypass'

/** All modes. */
export const modes = ['default', 'plan', 'accept-edits', 'bypass'] as const satisfies readonly Mode[]

/** All modes, in order of increasing reach. */
export const modesByReach: readonly Mode[] = ['plan', 'default', 'accept-edits', 'bypass']
