import type { DecisionFacts } from '../../contract/policy.ts'
import { followedSkills } from '../skills/followed-skills.ts'
import type { Admitted } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** What a policy decides about a call that has begun, but for what it reaches. `granted` is what answered for the person before it ran. */
export function callFacts(
  { registered, input, decision: { layer } }: Admitted,
  scope: CallScope,
): Omit<DecisionFacts, 'operations'> {
  const { session } = scope
  return {
    definition: registered.definition,
    principal: session.principal,
    mode: session.mode,
    ancestors: session.ancestors,
    skills: followedSkills(scope),
    input,
    granted: layer === 'session-approval' || layer === 'consent' ? layer : undefined,
  }
}
