import type { ChildAgents } from './base/child-agents.ts'
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

/** Starts the agents of calls. */
export interface AgentHost {
  open(call: StartingCall): ChildAgents
}
