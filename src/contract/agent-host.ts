import type { ChildAgents } from './base/child-agents.ts'
import type { Teams } from './base/teams.ts'
import type { Session } from './runtime.ts'

/** A call that may start agents. */
export interface StartingCall {
  readonly session: Session
  readonly toolCallId: string
  /** Aborted when the call is over. */
  readonly signal: AbortSignal
  /** A signal that is aborted when its session is closed. */
  closing(): AbortSignal
  /** Whether the call stands while a person is asked. */
  readonly waits: boolean
}

/** A call that works with teams. */
export interface TeamCall {
  readonly session: Session
  readonly toolCallId: string
  /** Takes secrets out of what is kept. */
  readonly redact: (text: string) => string
  /** Whether the call has ended, so that it changes nothing any more. */
  readonly ended: () => boolean
}

/** Starts the agents of calls. */
export interface AgentHost {
  open(call: StartingCall): ChildAgents
  openTeams(call: TeamCall): Teams
}
