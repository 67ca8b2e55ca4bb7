import type { Mode, Principal } from '../contract/base/principal.ts'
import type { Decision, DecisionFacts } from '../contract/policy.ts'
import type { ToolDefinition } from '../contract/tool/tool.ts'
import { freezeDeeply } from '../kit/json/freeze-deeply.ts'
import type { RuleIndex } from './compile-rules.ts'

/** What is decided for one mode, before a call is planned and when its plan reaches nothing. */
interface Kept {
  readonly mode: Mode
  before?: Decision
  planned?: Decision
}

/**
 * Keeps what is decided by nothing but the principal, the mode and the tool: that is the same for every call. What a call is given or reaches, what
 * answers for the person, skills and the sessions above decide anew each time.
 */
export function createKeptDecisions(
  rules: RuleIndex,
): (facts: DecisionFacts, decide: () => Decision) => Decision {
  const known = new WeakMap<Principal, WeakMap<ToolDefinition, Kept>>()
  const keptFor = ({ principal, definition, mode }: DecisionFacts): Kept => {
    let ofPrincipal = known.get(principal)
    if (ofPrincipal === undefined) known.set(principal, (ofPrincipal = new WeakMap()))
    let kept = ofPrincipal.get(definition)
    if (kept?.mode !== mode) ofPrincipal.set(definition, (kept = { mode }))
    return kept
  }
  return (facts, decide) => {
    if (!isAlike(facts, rules)) return decide()
    const kept = keptFor(facts)
    return facts.operations === undefined
      ? (kept.before ??= freezeDeeply(decide()))
      : (kept.planned ??= freezeDeeply(decide()))
  }
}

function isAlike(facts: DecisionFacts, rules: RuleIndex): boolean {
  const { principal, definition, operations, granted, ancestors, skills } = facts
  if (granted !== undefined || ancestors !== undefined || skills !== undefined) return false
  // It may have been changed since.
  if (!Object.isFrozen(principal)) return false
  if (operations === undefined) return true
  return operations.length === 0 && rules.rulesFor(definition).openByInput.length === 0
}
