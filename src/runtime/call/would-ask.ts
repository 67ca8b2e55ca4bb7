import type { CallError } from '../../contract/base/errors.ts'
import type { Registered } from '../../contract/registry.ts'
import { abortedEarly } from '../limits/aborted-error.ts'
import { createRunWatch } from '../limits/run-watch.ts'
import { halt, isHalted, isPlanned, type Called, type Halted, type Hooked } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'
import { prepare } from './pipeline.ts'
import { answeredBefore, findExhaustedBudget } from './steps/approve.ts'
import { recallForPreflight } from './steps/recall.ts'

/** Whether a call would come to a person now: what `preflight` finds, without what it tells. */
export async function wouldAsk(called: Called, scope: CallScope): Promise<boolean> {
  const reached = await lookAhead(called, scope)
  return !isHalted(reached) && asksPerson(reached, scope)
}

/**
 * Whether some call of this tool may ask, as far as that is known without making one. False only if the decision hangs on nothing that a call says,
 * reaches or repeats, and no hook wants to be told about it.
 */
export function mayAsk({ definition, tool }: Registered, { tenant, session }: CallScope): boolean {
  const { principal, mode, ancestors } = session
  if (tool.plan !== undefined || definition.idempotency === 'keyed') return true
  if (session.skills().length > 0) return true
  return tenant.hooks.before.length > 0 || tenant.policy.mayAsk({ definition, principal, mode, ancestors })
}

/** A call up to the person, without asking them, waiting for another call or taking anything. */
export async function lookAhead(called: Called, scope: CallScope): Promise<Hooked | Halted> {
  const prepared = await prepare<never>(called, scope, { recall: recallForPreflight, isPreflight: true })
  if (isHalted(prepared)) return prepared
  const over = findEnded(prepared, scope) ?? findExhaustedBudget(prepared, scope)
  return over === undefined ? prepared : halt('approve', prepared, over)
}

/** The session may have been told to end: a call would then be aborted. */
function findEnded(hooked: Hooked, { session }: CallScope): CallError | undefined {
  const { ended } = createRunWatch(hooked, session.endings)
  return ended && abortedEarly(hooked.registered.definition.name, ended, 'before it ran')
}

/** Whether a call that came this far is to be decided by a person who has not decided yet. */
export function asksPerson(state: Halted['state'], scope: CallScope): boolean {
  return isPlanned(state) && state.decision.effect === 'ask' && answeredBefore(state, scope) === undefined
}
