import { ToolFailure } from '../../contract/base/errors.ts'
import type { PlanMode } from '../../contract/services/plan-mode.ts'
import type { Mode } from '../../contract/base/principal.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope, SessionState } from '../state/scope.ts'

/** The plan mode of a session, as it is now. */
export function lookAtPlanMode({ modes }: SessionState): Pick<PlanMode, 'reason' | 'beneath'> {
  return {
    get reason() {
      return modes.planning()
    },
    get beneath() {
      return modes.beneath()
    },
  }
}

/** The plan mode of the session of a call. Only a call that a person said yes to ends it. */
export function openPlanMode(admitted: Admitted, { session }: CallScope): PlanMode {
  const { call, registered, approval } = admitted
  const { name, consent } = registered.definition
  const { modes } = session
  const change = async (work: () => Promise<void>): Promise<void> => {
    const before = session.mode
    try {
      await work()
    } finally {
      if (session.mode !== before) notify(before)
    }
  }
  const notify = (before: Mode): void =>
    session.emit({
      type: 'mode_changed',
      level: 'info',
      call: call.id,
      toolCallId: call.toolCallId,
      tool: name,
      summary: `the session is in mode ${session.mode}, and was in mode ${before}`,
      data: { mode: session.mode, before },
    })
  const look = lookAtPlanMode(session)
  return {
    get reason() {
      return look.reason
    },
    get beneath() {
      return look.beneath
    },
    enter: () => change(() => modes.enter()),
    async leave() {
      if (consent.personOnly !== true || approval === undefined)
        throw new ToolFailure({
          code: 'POLICY.APPROVAL_DENIED',
          reason: 'no_callback',
          message: `Only a person lets a session leave plan mode, and no person was asked about this call of "${name}". Its developer has to set consent.personOnly in its definition.`,
        })
      if (modes.planning() !== 'entered')
        throw new ToolFailure({
          reason: 'not_in_plan_mode',
          message: `No call of this session is in plan mode, so "${name}" left none. Go on.`,
        })
      await change(() => modes.leave())
    },
  }
}
