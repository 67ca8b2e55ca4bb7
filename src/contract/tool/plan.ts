import type { PastCalls } from '../services/history.ts'
import type { PlanMode } from '../services/plan-mode.ts'
import type { Operation, Preview } from './operation.ts'
import type { PartCalls } from './part-calls.ts'
import type { Principal } from '../base/principal.ts'
import type { Schedules } from '../services/schedules.ts'
import type { Services } from './services.ts'

export type { Operation, Preview } from './operation.ts'

/** What a call would do. */
export interface Plan {
  operations: readonly Operation[]
  preview?: Preview
  /**
   * How far an allow_for_session reaches: a directory, a host, an executable with its working directory.
   * Without it, such a yes holds for the same input only.
   */
  scope?: string
  /** Said of a command whose changes the sandbox can hold back until they may land. */
  held?: HeldPlan
  /** Handed to `run` as `context.planned`, so that run does what the preview showed. */
  planned?: unknown
}

/** How a person decides about changes that are held back. */
export interface HeldPlan {
  /** Whether the command may run before a person is asked: all that it does is held back, and nothing of it is shown before the yes. */
  readonly tryFirst: boolean
  /** Whether the command runs only if what it writes is held back. */
  readonly required: boolean
  readonly review: Review
}

/**
 * Which changes of a command a person sees before they land: all; those that a rule, a sensitive path or a protected name asks about; or none, so
 * that such changes are refused.
 */
export type Review = 'always' | 'protected' | 'never'

/** What a plan is given: it may read and resolve, not write. It has these services whatever the tool names in `needs`. */
export interface PlanContext extends Pick<Services, 'files' | 'search' | 'commands' | 'network'> {
  readonly principal: Principal
  readonly project: string
  /** Only for a tool that names it in `needs`. */
  readonly pastCalls?: PastCalls
  /** Only for a tool that names it in `needs`. */
  readonly planMode?: Pick<PlanMode, 'reason' | 'beneath'>
  /** Only for a tool that names it in `needs`. */
  readonly schedules?: Pick<Schedules, 'examine' | 'find'>
  /** Only for a tool that names it in `needs`. */
  readonly parts?: Pick<PartCalls, 'definition' | 'look'>
  /** Absolute paths of the folders that calls may write, whatever this one may: what lies there may be the work of a call. */
  readonly writable: readonly string[]
}
