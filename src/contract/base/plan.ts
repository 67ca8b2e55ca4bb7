import type { PastCalls } from './history.ts'
import type { PlanMode } from './plan-mode.ts'
import type { Principal } from './principal.ts'
import type { Schedules } from './schedules.ts'
import type { Services } from './services.ts'

/** One thing a call would do to the outside. Paths are absolute and resolved; hosts are lower case. */
export type Operation =
  | { kind: 'fs.read'; path: string; recursive?: boolean }
  /**
   * `by` names what writes it if the plan did not: a program whose changes are held back until they may land. Nothing is left at the path if it is
   * `removed`.
   */
  | { kind: 'fs.write'; path: string; by?: 'program'; removed?: true }
  | { kind: 'process'; executable: string; argv: readonly string[]; cwd: string }
  | { kind: 'net'; host: string; url: string }
  | { kind: 'other'; resource: string }

/** What a person sees before saying yes. An approval is bound to its digest. */
export interface Preview {
  kind: 'diff' | 'argv' | 'host' | 'text'
  /** One line: what would happen to which thing. */
  title: string
  body: string
  /** Shown below the body: what is so now, and may be otherwise when the call runs. The approval is not bound to it. */
  asOfNow?: string
}

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
  /** Absolute paths of the folders that calls may write, whatever this one may: what lies there may be the work of a call. */
  readonly writable: readonly string[]
}
