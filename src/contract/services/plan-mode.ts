import type { Mode } from '../base/principal.ts'

/** Why a session is in plan mode: a call entered it, the session was opened in it, or a session above is in it. */
export type PlanModeReason = 'entered' | 'opened' | 'above'

/** The plan mode of the session of a call: while it lasts, nothing that changes things is let through. */
export interface PlanMode {
  /** Why the session is in plan mode now; undefined if it is not. */
  readonly reason: PlanModeReason | undefined
  /** The mode of the session without what calls entered: it has this one when plan mode is left. */
  readonly beneath: Mode
  /** Narrows the session at once; in the store too, if the session has an id of its own. Rejects if the store does not take it. */
  enter(): Promise<void>
  /**
   * Ends what a call entered. Rejects if no call did, and if no person said yes to this very call: the definition of the tool has
   * `consent.personOnly`.
   */
  leave(): Promise<void>
}
