import { strictness, type Decision, type DecisionFacts, type PolicyEngine } from '../contract/policy.ts'

/**
 * Decides by two engines, of a project and of a part of it: the stricter one counts, so that a rule holds by either name of a path. What may be touched
 * is that of the part.
 */
export function strictestEngine(whole: PolicyEngine, part: PolicyEngine): PolicyEngine {
  const stricter = (facts: DecisionFacts): { decision: Decision; engine: PolicyEngine } => {
    const [one, other] = [whole.decide(facts), part.decide(facts)]
    const isPart = strictness[other.effect] > strictness[one.effect]
    const decision = isPart ? other : one
    const keepable = one.keepable !== false && other.keepable !== false
    return {
      decision: decision.effect === 'ask' && !keepable ? { ...decision, keepable } : decision,
      engine: isPart ? part : whole,
    }
  }
  return {
    ...part,
    defaultMode: whole.defaultMode,
    allowBypass: whole.allowBypass,
    decide: (facts) => stricter(facts).decision,
    mayAsk: (facts) => whole.mayAsk(facts) || part.mayAsk(facts),
    explain: (facts) => stricter(facts).engine.explain(facts),
    sensitivePaths: (paths) => [...new Set([...whole.sensitivePaths(paths), ...part.sensitivePaths(paths)])],
    hiddenGlobs: (facts) => [...new Set([...whole.hiddenGlobs(facts), ...part.hiddenGlobs(facts)])],
    limitsWrites: (facts) => whole.limitsWrites(facts) || part.limitsWrites(facts),
  }
}
