import type { Alternative, Decision, DecisionFacts, Verdict } from '../../contract/policy.ts'
import { toolUrn } from '../../kit/match/urn.ts'
import type { Called, Hooked } from '../state/call-state.ts'
import { followedSkills } from '../skills/followed-skills.ts'
import type { CallScope } from '../state/scope.ts'

/** A decision for people: with what every layer said, and what would decide otherwise. */
export interface ExplainedDecision {
  decision: Decision
  alternatives: readonly Alternative[]
}

/** Explains what was decided about a call so far; undefined if nothing was. */
export function explainDecision(
  state: Partial<Hooked> & Called,
  scope: CallScope,
): ExplainedDecision | undefined {
  const { decision, registered, plan, input } = state
  if (decision === undefined || registered === undefined) return undefined
  const { principal, mode, ancestors } = scope.session
  const { layer, rule } = decision
  const facts: DecisionFacts = {
    definition: registered.definition,
    principal,
    mode,
    ancestors,
    skills: followedSkills(scope),
    operations: plan?.operations,
    ...(input !== undefined && { input }),
    granted: layer === 'session-approval' || layer === 'consent' ? layer : undefined,
  }
  const { policy } = scope.tenant
  const { verdicts, alternatives } = policy.explain(facts)
  if (layer !== 'grants' && layer !== 'decision-point')
    return { decision: { ...decision, verdicts: [...verdicts, ...grantVerdict(state, scope)] }, alternatives }
  const rest = policy.decide(facts)
  return {
    decision: { ...decision, verdicts: [...decision.verdicts, ...verdicts] },
    alternatives: [
      {
        without: { layer, rule },
        effect: rest.effect,
        layer: rest.layer,
        rule: rest.rule,
        reason: rest.reason,
      },
    ],
  }
}

/** What the policy's own grants say; they can be asked again, an engine outside should not be. */
function grantVerdict(
  { call, registered }: Partial<Hooked> & Called,
  { tenant, session }: CallScope,
): Verdict[] {
  const grants = tenant.decisionPoints.find((point) => point.id === 'grants')
  if (grants === undefined || registered === undefined) return []
  const { definition } = registered
  const answer = grants.authorise({
    principal: session.principal,
    action: 'invoke',
    resource: toolUrn(definition.name),
    definition,
    mode: session.mode,
    origin: call.origin,
    session: session.id,
  })
  if (answer instanceof Promise) return []
  const effect = answer.effect === 'permit' ? 'allow' : 'deny'
  return [{ layer: 'grants', rule: answer.decidedBy, effect, reason: answer.reason }]
}
