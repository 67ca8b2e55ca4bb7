import type { ChildAgents } from './services/child-agents.ts'
import type { JobEnd } from './services/job.ts'
import type { Teams } from './services/teams.ts'
import type { Session } from './runtime.ts'

/** A call that may start agents. */
export interface StartingCall {
  readonly session: Session
  readonly callId: string
  readonly toolCallId: string
  /** Canonical name of its tool. */
  readonly tool: string
  /** Aborted when the call is over. */
  readonly signal: AbortSignal
  /** Whether the call stands while a person is asked. */
  readonly waits: boolean
}

/** An agent that runs on after its call, as a job of the session that started it. */
export interface BackgroundAgent {
  /** Id of its run. */
  readonly id: string
  /** The call that started it, and the tool of that call. */
  readonly call: string
  readonly tool: string
  readonly title: string
  readonly startedAt: number
  /** What it said so far, as it said it. Only its end changes. */
  said(): string
}

/** How such an agent ended. */
export type AgentEnd = Pick<JobEnd, 'how' | 'reason' | 'at' | 'notes'>

/** One that this process has not under way, as the store has it. */
export interface KeptAgent extends BackgroundAgent {
  /** Absent if another process has it under way. */
  readonly end?: AgentEnd
}

/** One that is about to begin. */
export interface StartingAgent extends BackgroundAgent {
  /** Resolves when it runs. `signal` ends it; its reason is why. */
  start(signal: AbortSignal): Promise<{ readonly ended: Promise<AgentEnd> }>
}

/** Why an agent ends whose session does: it may go on later. */
export const sessionOver = 'the session was closed'
/** Why a job ends whose session was aborted. */
export const sessionAborted = 'the session was aborted'
/** Why an agent ends whose runtime does: it may go on later. */
export const runtimeOver = 'the runtime was closed'

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
  /** The agents that a session started in the background, the oldest first. */
  kept(session: Session): readonly KeptAgent[]
}
