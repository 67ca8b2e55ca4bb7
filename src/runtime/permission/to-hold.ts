import type { Hold } from '../../contract/services/sandbox.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'
import { callFacts } from './call-facts.ts'

/**
 * Whether what the program of a call writes is held back until it may land: it has to be if a person decides about it after the run, and better is if
 * more than the bounds of the call decides what it may write.
 */
export function toHold(admitted: Admitted, scope: CallScope): Hold | undefined {
  const { plan, deferred } = admitted
  if (plan.held === undefined) return undefined
  if (deferred || plan.held.required) return 'required'
  return plan.held.review === 'always' ? 'preferred' : toLiveHold(admitted, scope)
}

/** The same of a program that runs on after its call was answered: no person decides about it then. */
export function toLiveHold(admitted: Admitted, scope: CallScope): Hold | undefined {
  const { plan, approval } = admitted
  const { policy, decisionPoints } = scope.tenant.latest()
  const isLimited =
    decisionPoints.some(({ id }) => id !== 'grants') ||
    policy.limitsWrites({
      ...callFacts(admitted, scope),
      operations: plan.operations,
      ...(approval !== undefined && { granted: 'session-approval' }),
    })
  return isLimited ? 'preferred' : undefined
}
