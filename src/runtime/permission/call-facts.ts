import type { DecisionFacts } from '../../contract/policy.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** What a policy decides about a call that has begun, but for what it reaches. `granted` is what answered for the person before it ran. */
export function callFacts(
  { registered, input, decision: { layer } }: Admitted,
  { session }: CallScope,
): Omit<DecisionFacts, 'operations'> {
  return {
    definition: registered.definition,
    principal: session.principal,
    mode: session.mode,
    ancestors: session.ancestors,
    input,
    granted: layer === 'session-approval' || layer === 'consent' ? layer : undefined,
  }
}
