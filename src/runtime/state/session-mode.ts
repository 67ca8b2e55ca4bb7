import type { Mode } from '../../contract/base/principal.ts'
import type { PlanModeReason } from '../../contract/services/plan-mode.ts'

/** The mode of a session. Plan mode that a call entered lies over the mode that the session was opened in. */
export interface SessionMode {
  /** What counts now. */
  current(): Mode
  /** What counts once no call's plan mode lies over it. */
  beneath(): Mode
  /** Why it is in plan mode now; undefined if it is not. */
  planning(): PlanModeReason | undefined
  /** Counts at once, also if it rejects because the store does not take it. */
  enter(): Promise<void>
  /** Rejects, and changes nothing, if the store does not take it. */
  leave(): Promise<void>
}
