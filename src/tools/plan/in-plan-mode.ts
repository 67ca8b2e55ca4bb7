import { ToolFailure } from '../../contract/base/errors.ts'
import type { PlanMode, PlanModeReason } from '../../contract/services/plan-mode.ts'
import type { Mode } from '../../contract/base/principal.ts'

/** The mode that a session is in. */
export function modeOf({ reason, beneath }: Pick<PlanMode, 'reason' | 'beneath'>): Mode {
  return reason === undefined ? beneath : 'plan'
}

const why: { readonly [reason in Exclude<PlanModeReason, 'entered'>]: string } = {
  opened:
    'The session was opened in plan mode, so no call leaves it. Present the plan to the person in your answer, and stop there.',
  above:
    'The session that started this one is in plan mode, and this one cannot leave it. Return what you found to it.',
}

/** Throws if no call of the session entered plan mode, so that a person is not asked in vain. */
export function requireEntered({ reason }: Pick<PlanMode, 'reason'>): void {
  if (reason === 'entered') return
  throw new ToolFailure({
    reason: 'not_in_plan_mode',
    message:
      reason === undefined
        ? 'The session is not in plan mode, so there is nothing to leave. Go on with the work.'
        : why[reason],
  })
}
