import type { StartingAgent } from '../../contract/agent-host.ts'
import type { Approver } from '../../contract/approval.ts'
import type { ElicitationHandler } from '../../contract/base/elicitation.ts'
import type { Ancestor, Principal } from '../../contract/base/principal.ts'
import type { StepScope } from '../../contract/services/tasks.ts'
import type { ToolDefinition } from '../../contract/tool/tool.ts'
import type { Registered } from '../../contract/registry.ts'
import type { RuntimeEvent } from '../../contract/events.ts'
import type { LoadedSkill } from '../../contract/services/skill.ts'
import type { Session, SessionNarrowing } from '../../contract/runtime.ts'
import type { SessionMode } from './session-mode.ts'
import type { Slots } from './slots.ts'

/** Calls that a session and all that it opened made together. */
export interface CallCount {
  made: number
  /** How many of them may have changed something. */
  changes: number
}

/** Calls of one tool with one input, one after the other, that returned the same while nothing else changed anything. */
export interface Repeat {
  count: number
  /** Names what the last one returned; undefined before the first has ended. */
  result: string | undefined
  /** How many changes the session and those above and below it had made by then. */
  changes: number
}

/** What a session has done so far, as far as that has a limit. */
export interface SessionCounts {
  calls: number
  /** With those of the sessions above and below. */
  readonly family: CallCount
  readonly repeats: Map<ToolDefinition, Map<string, Repeat>>
}

/** What a session hands to those that it opens: none of them may do more than it may itself. */
export interface Family {
  readonly principal: Principal
  readonly mode: SessionMode
  readonly approver: Approver | undefined
  readonly elicit: ElicitationHandler | undefined
  readonly standingConsents: boolean
  /** A step that one of them claims has to lie in each of these. */
  readonly claims: readonly StepScope[]
  /** Aborts the session and all that it opened. */
  readonly signal: AbortSignal | undefined
  readonly calls: CallCount
  /** Counts what other processes did that have the topmost session open; undefined if none can. */
  readonly catchUp: (() => void) | undefined
  /** Of agent-starting calls, for the session and all that it opened together. */
  readonly agentSlots: Slots
  /** The session, then those above it, the nearest first. */
  readonly lineage: readonly Ancestor[]
  /** The skills that the session and those above it follow. */
  readonly skills: () => readonly LoadedSkill[]
  readonly children: Set<Session>
  /** Makes a job of the session of an agent that runs on after its call, and starts it. Rejects if it cannot be started. */
  hold(agent: StartingAgent): Promise<void>
  /** The worktree that it and all that it opens are held to. */
  readonly worktree: string | undefined
  isClosed(): boolean
  narrowing(): SessionNarrowing
  /** Tells those who follow the session. */
  emit(event: Pick<RuntimeEvent, 'type' | 'level' | 'summary' | 'data'>): void
  /** Why the session may not call a tool; undefined if it may. */
  exclusion(registered: Registered): string | undefined
  /** Another value as soon as an exclusion may be another one. */
  edition(): number
}
