import type { CallError } from '../../../contract/base/errors.ts'
import type { Decision, DecisionFacts } from '../../../contract/policy.ts'
import type { ToolDefinition } from '../../../contract/tool/tool.ts'
import { withoutStop } from '../../../kit/text/without-stop.ts'
import { callError } from '../../../kit/result/call-error.ts'
import { toolUrn } from '../../../kit/match/urn.ts'
import { authoriseUse, type Refusal } from '../../permission/authorise-use.ts'
import { profileOf } from '../../permission/profile-of.ts'
import { advance } from '../../state/advance.ts'
import { halt, type Authorised, type CheckedInput, type Halted } from '../../state/call-state.ts'
import type { CallScope, SessionState } from '../../state/scope.ts'
import { countRepeat, countRepeats } from '../../limits/repeats.ts'

/** Step 3: what is known of the tool alone does not forbid the call, and every decision point permits the principal to invoke the tool. */
export function authorise(
  checked: CheckedInput,
  scope: CallScope,
): Authorised | Halted | Promise<Authorised | Halted> {
  const { tenant, session } = scope
  const { definition } = checked.registered
  const decision = tenant.policy.decide(factsOfTool(definition, session))
  if (decision.effect === 'deny') {
    const state = { ...checked, decision }
    return halt('authorise', state, deniedTool(definition, decision))
  }
  const asked = askDecisionPoints(checked, scope)
  return asked instanceof Promise
    ? asked.then((refused) => settle(checked, refused, scope))
    : settle(checked, asked, scope)
}

/** What is known before a call is planned. */
export function factsOfTool(
  definition: ToolDefinition,
  { principal, mode, ancestors }: SessionState,
): DecisionFacts {
  return { definition, principal, mode, ancestors, operations: undefined, granted: undefined }
}

/** The policy denies the tool, whatever a call would reach. */
export function deniedTool({ name }: ToolDefinition, { denial, reason, layer, rule }: Decision): CallError {
  return callError('POLICY.DENY_TOOL', denial ?? 'rule_denied', {
    message: `"${name}" is denied: ${withoutStop(reason)}.`,
    data: { layer, rule },
  })
}

function settle(checked: CheckedInput, refused: Refusal | undefined, scope: CallScope): Authorised | Halted {
  const { definition } = checked.registered
  if (refused !== undefined)
    return halt('authorise', { ...checked, decision: refused.decision }, refused.error)
  return advance.authorise(checked, { profile: profileOf(definition, scope) })
}

function askDecisionPoints(
  checked: CheckedInput,
  scope: CallScope,
): Refusal | undefined | Promise<Refusal | undefined> {
  if (scope.tenant.decisionPoints.length === 0) return undefined
  return authoriseUse(
    checked,
    { action: 'invoke', resource: toolUrn(checked.registered.definition.name) },
    scope,
  )
}

/** The session's count that leaves no room for this call, as an error. */
export function findExceeded(checked: CheckedInput, scope: CallScope): CallError | undefined {
  if (checked.partOf?.segment !== undefined) return undefined
  scope.session.catchUp?.()
  const { repeatsPerSession } = scope.tenant.limits
  const exceeded = findExceededCalls(scope)
  if (exceeded !== undefined) return exceeded
  const repeats = countRepeats(checked, scope)
  if (repeats < repeatsPerSession) return undefined
  return callError('QUOTA.BUDGET_EXCEEDED', 'repeats', {
    message: `"${checked.registered.definition.name}" was called ${repeats} times with this very input, and returned the same each time while nothing else was changed. Do something else.`,
  })
}

/** The limit of calls that the session has reached, as an error. */
export function findExceededCalls({ tenant, session }: CallScope): CallError | undefined {
  const { callsPerSession } = tenant.limits
  if (callsPerSession === undefined || session.counts.family.made < callsPerSession) return undefined
  return callError('QUOTA.BUDGET_EXCEEDED', 'calls', {
    message: `This session has made ${session.counts.family.made} calls, which is its limit. Stop, or let the operator raise limits.callsPerSession.`,
  })
}

/** Counts a call that is about to run. */
export function countCall(checked: CheckedInput, scope: CallScope): void {
  // It was counted with its call.
  if (checked.partOf?.segment !== undefined) return
  const { counts } = scope.session
  counts.calls++
  counts.family.made++
  countRepeat(checked, scope)
}
