import type { Alternative, Decision, DecisionFacts, Explanation, Layer, Verdict } from '../contract/policy.ts'
import type { CompiledRule } from './compile-rules.ts'
import {
  answerTo,
  automatic,
  decide,
  findQuestions,
  answerVerdicts,
  matchedRules,
  toVerdict,
  type DecisionBase,
} from './decide.ts'

/** Everything behind a decision: what each layer says, and what would decide if what decides were not there. */
export function explain(facts: DecisionFacts, base: DecisionBase): Explanation {
  const decision = decide(facts, base)
  return { verdicts: listVerdicts(decision, facts, base), alternatives: findAlternatives(facts, base) }
}

/** The verdicts of a decision, and with them all questions and answers that it went past. */
function listVerdicts(decision: Decision, facts: DecisionFacts, base: DecisionBase): Verdict[] {
  const matched = matchedRules(facts, base)
  const questions = findQuestions(facts, base)
  const answers = questions.flatMap((question) => answerTo(question, facts, { matched, base }) ?? [])
  const said = [
    ...decision.verdicts,
    ...matched.map(toVerdict),
    ...questions.map((question) => question.verdict),
    ...answers,
    ...(facts.granted === undefined ? [] : [answerVerdicts[facts.granted]]),
    ...(questions.length === 0 ? [automatic] : []),
  ]
  const first = new Map<string, Verdict>()
  for (const verdict of said) if (!first.has(keyOf(verdict))) first.set(keyOf(verdict), verdict)
  return [...first.values()]
}

/** More would be no explanation. */
const maxAlternatives = 20

/**
 * What decides when what decides now is taken away, again and again until another effect comes out or nothing is left to take away.
 * A mode is taken away for mode `default`, a denied network for one that is let through.
 */
export function findAlternatives(facts: DecisionFacts, base: DecisionBase): Alternative[] {
  const first = decide(facts, base)
  const alternatives: Alternative[] = []
  let now = { facts, base, decision: first }
  while (alternatives.length < maxAlternatives && now.decision.effect === first.effect) {
    const { layer, rule } = now.decision
    const rest = takeAway({ layer, rule }, now.facts, now.base)
    if (rest === undefined) break
    const decision = decide(rest.facts, rest.base)
    const { effect } = decision
    alternatives.push({ without: { layer, rule }, effect, ...saidBy(decision) })
    now = { ...rest, decision }
  }
  return alternatives
}

type Said = { layer: Layer; rule: string }

/** Once its questions are taken away, a call is let through because nothing else asks, not because it only reads. */
function saidBy({ layer, rule, reason }: Decision): Said & { reason: string } {
  return layer === automatic.layer && rule === automatic.rule
    ? { layer, rule: 'nothing-asks', reason: 'nothing else asks about it' }
    : { layer, rule, reason }
}

/** The same facts and base without one thing that decided; undefined if it cannot be thought away. */
function takeAway(
  said: Said,
  facts: DecisionFacts,
  base: DecisionBase,
): { facts: DecisionFacts; base: DecisionBase } | undefined {
  switch (said.layer) {
    case 'mode':
      return { facts: withoutMode(facts), base }
    case 'skill':
      return { facts: { ...facts, skills: undefined }, base }
    case 'session-approval':
    case 'consent':
      return { facts: { ...facts, granted: undefined }, base }
    case 'defaults':
      if (said.rule === automatic.rule) return undefined
      return { facts, base: { ...base, leftOut: new Set([...(base.leftOut ?? []), said.rule]) } }
    default:
      if (hasRule(said, facts, base)) return { facts, base: withoutRule(said, base) }
      return { facts, base: { ...base, network: { ...base.network, default: 'allow' } } }
  }
}

function withoutMode(facts: DecisionFacts): DecisionFacts {
  const ancestors = facts.ancestors?.map((ancestor) => ({ ...ancestor, mode: 'default' as const }))
  return { ...facts, mode: 'default', ancestors }
}

/** Of the session or of those above it. */
function hasRule(said: Said, facts: DecisionFacts, base: DecisionBase): boolean {
  return [facts, ...(facts.ancestors ?? [])].some(({ principal, mode }) =>
    matchedRules({ ...facts, principal, mode }, base).some((rule) => is(rule, said)),
  )
}

function withoutRule(said: Said, base: DecisionBase): DecisionBase {
  const others = (rules: readonly CompiledRule[]) => rules.filter((rule) => !is(rule, said))
  return {
    ...base,
    rules: {
      rulesFor(definition) {
        const { settled, open, openByInput } = base.rules.rulesFor(definition)
        return { settled: others(settled), open: others(open), openByInput: others(openByInput) }
      },
    },
  }
}

function is(rule: CompiledRule, { layer, rule: id }: Said): boolean {
  return rule.layer === layer && rule.id === id
}

function keyOf({ layer, rule }: Said): string {
  return `${layer}/${rule}`
}
