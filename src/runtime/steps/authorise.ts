import { callError } from '../../kit/call-error.ts'
import { pass, stop, type Authorised, type CheckedInput, type Stopped } from '../passage.ts'
import type { Road } from '../road.ts'

/** Step 3: what is known of the tool alone does not forbid the call, and the session's counts leave room for it. */
export function authorise(checked: CheckedInput, road: Road): Authorised | Stopped {
  const { ground, session } = road
  const { definition } = checked.registered
  const decision = ground.policy.decide({
    definition,
    principal: session.principal,
    mode: session.mode,
    operations: undefined,
    granted: false,
  })
  if (decision.effect === 'deny') {
    const state = { ...checked, decision }
    return stop(
      'authorise',
      state,
      callError('POLICY.DENY_TOOL', decision.denial ?? 'rule_denied', {
        message: `"${definition.name}" is denied: ${decision.reason}.`,
        data: { layer: decision.layer, rule: decision.rule },
      }),
    )
  }
  const over = findExceeded(checked, road)
  if (over !== undefined) return stop('authorise', checked, over)
  return pass<Authorised>(checked, { profile: ground.policy.profile(session.grant, definition) })
}

function findExceeded(checked: CheckedInput, { ground, session }: Road) {
  const { callsPerSession, repeatsPerSession } = ground.limits
  if (callsPerSession !== undefined && session.counts.calls >= callsPerSession) {
    return callError('QUOTA.BUDGET_EXCEEDED', 'calls', {
      message: `This session has made ${session.counts.calls} calls, which is its limit. Stop, or let the operator raise limits.callsPerSession.`,
    })
  }
  const repeats = session.counts.repeats.get(repeatKey(checked)) ?? 0
  if (repeats < repeatsPerSession) return undefined
  return callError('QUOTA.BUDGET_EXCEEDED', 'repeats', {
    message: `"${checked.registered.definition.name}" was called ${repeats} times with this very input in this session. Its result will not change; do something else.`,
  })
}

/** The same tool with the same input. */
export function repeatKey(checked: CheckedInput): string {
  return `${checked.registered.definition.name} ${checked.inputDigest}`
}
