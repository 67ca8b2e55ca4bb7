import type { CallError } from '../../contract/errors.ts'
import { callError } from '../../kit/call-error.ts'
import { pass, stop, type Authorised, type CheckedInput, type Stopped } from '../passage.ts'
import type { Road, Traveller } from '../road.ts'

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

/** The session's count that leaves no room for this call, as an error. */
export function findExceeded(checked: CheckedInput, { ground, session }: Road): CallError | undefined {
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

/** Inputs that a session is known to have repeated; older ones are forgotten. */
const rememberedRepeats = 1_000

/** Counts a call that is about to run. */
export function countCall(checked: CheckedInput, { counts }: Traveller): void {
  counts.calls++
  const key = repeatKey(checked)
  const before = counts.repeats.get(key) ?? 0
  if (before > 0) counts.repeats.delete(key)
  counts.repeats.set(key, before + 1)
  if (counts.repeats.size <= rememberedRepeats) return
  for (const oldest of counts.repeats.keys()) {
    counts.repeats.delete(oldest)
    return
  }
}
