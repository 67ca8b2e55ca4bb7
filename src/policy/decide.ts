import { relative } from 'node:path'
import {
  strictness,
  type Decision,
  type DecisionFacts,
  type Effect,
  type Policy,
  type Verdict,
} from '../contract/policy.ts'
import { isFor, isWrittenByProgram, type CompiledRule, type RuleIndex } from './compile-rules.ts'
import { matchHost } from '../kit/match/match-host.ts'
import { isInside } from '../kit/match/is-inside.ts'
import { fateOf, whyObeyed } from '../kit/match/protected-path.ts'
import { matchOpenRules } from './match-open-rules.ts'
import type { SensitivePaths } from './sensitive-paths.ts'
import { findSkillVerdicts, type SkillRules } from './skill-layer.ts'

/** What a decision stands on. */
export interface DecisionBase {
  rules: RuleIndex
  network: NonNullable<Policy['network']>
  sensitive: SensitivePaths
  writable: readonly string[]
  project: string
  skillRules: SkillRules
  /** Questions that are not asked. Nothing but an explanation leaves any out. */
  leftOut?: ReadonlySet<string>
}

/** A reason to ask; its kind names it in verdicts. */
export interface Question {
  verdict: Verdict
  kind: 'person' | 'sensitive-path' | 'protected-path' | 'dangerous' | 'network' | 'write' | 'consent'
  /** Whether a yes for the session answers it the next time too. */
  keepable: boolean
  /** Whether it is about a file that other programs run or obey, so that accepting edits does not answer it. */
  obeyed?: boolean
}

/** What is said of a call that nothing else speaks of. */
export const automatic: Verdict = {
  layer: 'defaults',
  rule: 'readonly',
  effect: 'allow',
  reason: 'read-only and inside its bounds',
}

/**
 * Decides: a deny of any layer wins; then an explicit ask; then the questions of the runtime defaults, unless a rule, a mode
 * or the person's yes for this session answers them; else allow. A session that another one opened is let through only if that one
 * is too. Total: it never throws and never says nothing.
 */
export function decide(facts: DecisionFacts, base: DecisionBase): Decision {
  const own = decideAlone(facts, base)
  return facts.ancestors === undefined ? own : narrow(own, facts, base)
}

/** The strictest of what is decided for the session and for those above it; of equals the nearest. */
function narrow(own: Decision, facts: DecisionFacts, base: DecisionBase): Decision {
  let strictest = own
  for (const { principal, mode } of facts.ancestors ?? []) {
    const decision = decideAlone({ ...facts, principal, mode }, base)
    if (strictness[decision.effect] > strictness[strictest.effect])
      strictest = { ...decision, reason: `${decision.reason} (for the session above, as ${principal.role})` }
    else if (decision.effect === 'ask' && strictest.effect === 'ask' && decision.keepable === false)
      strictest = { ...strictest, keepable: false }
  }
  return strictest
}

function decideAlone(facts: DecisionFacts, base: DecisionBase): Decision {
  const matched = matchedRules(facts, base)
  const denial = findDenial(facts, matched, base)
  if (denial !== undefined) return settle(denial.verdict, matched, { denial: denial.as })
  const [skill] = findSkillVerdicts(facts, base)
  if (skill?.effect === 'deny') return settle(skill, matched, { denial: 'rule_denied' })
  const questions = findQuestions(facts, base)
  const rule = matched.find(({ effect }) => effect === 'ask')
  const asked = rule === undefined ? skill : toVerdict(rule)
  const answers = questions.map((question) => answerTo(question, facts, { matched, base }))
  const open = questions.filter((question, index) => answers[index] === undefined)
  const ungranted = facts.granted !== undefined ? open.filter((question) => !question.keepable) : open
  const keepable = open.every((question) => question.keepable)
  const guarded = open.find(isGuarded)
  // What a program wrote there was not part of what a person said yes to before.
  if (guarded !== undefined && facts.operations?.some(isWrittenByProgram) === true)
    return settle(guarded.verdict, matched, { keepable })
  if (asked !== undefined && facts.granted === undefined) return settle(asked, matched, { keepable })
  const [first] = ungranted
  if (first !== undefined) return settle(first.verdict, matched, { keepable })
  if (facts.granted !== undefined && (asked !== undefined || open.length > 0))
    return settle(answerVerdicts[facts.granted], matched, {})
  const allowing = matched.find((rule) => rule.effect === 'allow')
  return settle(answers[0] ?? (allowing === undefined ? automatic : toVerdict(allowing)), matched, {})
}

/** What is said of a call for which the person answered before. */
export const answerVerdicts: { readonly [by in NonNullable<DecisionFacts['granted']>]: Verdict } = {
  'session-approval': {
    layer: 'session-approval',
    rule: 'session',
    effect: 'allow',
    reason: 'the person allowed this tool and scope for the session',
  },
  consent: {
    layer: 'consent',
    rule: 'standing-consent',
    effect: 'allow',
    reason: 'a standing consent covers this tool and scope',
  },
}

/** The rules that match, those of the tool alone first. */
export function matchedRules(facts: DecisionFacts, base: DecisionBase): readonly CompiledRule[] {
  const { settled, open, openByInput } = base.rules.rulesFor(facts.definition)
  const matched = settled.length === 0 ? settled : settled.filter((rule) => isFor(rule, facts))
  if (facts.operations === undefined) return matched
  const candidates = facts.operations.length === 0 ? openByInput : open
  return candidates.length === 0 ? matched : matched.concat(matchOpenRules(candidates, facts, base))
}

function findDenial(
  facts: DecisionFacts,
  matched: readonly CompiledRule[],
  base: DecisionBase,
): { verdict: Verdict; as: NonNullable<Decision['denial']> } | undefined {
  const rule = matched.find((candidate) => candidate.effect === 'deny')
  if (rule !== undefined) return { verdict: toVerdict(rule), as: 'rule_denied' }
  if (facts.mode === 'plan' && facts.definition.permission === 'write') {
    return {
      verdict: { layer: 'mode', rule: 'plan', effect: 'deny', reason: 'plan mode is read-only' },
      as: 'mode_denied',
    }
  }
  if (base.network.default === 'deny' && reachesNetwork(facts) && !mayBeListed(facts, base)) {
    return {
      verdict: {
        layer: 'policy',
        rule: 'network',
        effect: 'deny',
        reason: 'the policy disables network tools',
      },
      as: 'rule_denied',
    }
  }
  return undefined
}

/** What the safe defaults ask about a call. */
export function findQuestions(facts: DecisionFacts, base: DecisionBase): Question[] {
  const { definition } = facts
  const lasting = definition.consent.scope !== 'once'
  const questions: Question[] = []
  const ask = (kind: Question['kind'], reason: string, keepable = lasting) => {
    if (base.leftOut?.has(kind) === true) return
    questions.push({ kind, verdict: { layer: 'defaults', rule: kind, effect: 'ask', reason }, keepable })
  }
  if (definition.consent.personOnly === true) ask('person', 'only a person says yes to this tool')
  const path = sensitivePath(facts, base)
  if (path !== undefined) ask('sensitive-path', `"${path}" is a sensitive path`, false)
  const guarded = protectedPath(facts, base)
  if (guarded !== undefined)
    ask('protected-path', `the command changed "${guarded}", which other programs run or obey`, false)
  if (definition.safety === 'high' || definition.tags.includes('dangerous'))
    ask('dangerous', 'the tool is dangerous')
  if (reachesNetwork(facts) && base.network.default !== 'allow' && !onlyListedHosts(facts, base)) {
    const everyTime = base.network.everyTime === true
    ask('network', 'the call may reach the network', lasting && !everyTime)
  }
  const obeyed = facts.mode === 'accept-edits' ? obeyedPath(facts, base) : undefined
  if (obeyed !== undefined && base.leftOut?.has('write') !== true)
    questions.push({ ...toQuestion(obeyed), kind: 'write', keepable: false, obeyed: true })
  else if (definition.permission === 'write') ask('write', 'the tool changes things')
  else if (definition.consent.required) ask('consent', 'the tool requires a consent')
  return questions
}

/** What answers a question without a person, if anything does. */
export function answerTo(
  question: Question,
  facts: DecisionFacts,
  about: { matched: readonly CompiledRule[]; base: DecisionBase },
): Verdict | undefined {
  if (question.kind === 'person') return undefined
  for (const rule of about.matched) {
    if (rule.effect !== 'allow') continue
    if (isGuarded(question) && !rule.sensitive) continue
    if (question.kind === 'dangerous' && !rule.narrow) continue
    if (question.kind === 'network' && speaksOfCommands(rule)) continue
    return toVerdict(rule)
  }
  if (isGuarded(question)) return undefined
  if (facts.mode === 'bypass') {
    return {
      layer: 'mode',
      rule: 'bypass',
      effect: 'allow',
      reason: 'the session runs in bypass mode, which the policy allows',
    }
  }
  if (
    facts.mode === 'accept-edits' &&
    question.kind === 'write' &&
    question.obeyed !== true &&
    isProjectEdit(facts, about.base.project)
  ) {
    return {
      layer: 'mode',
      rule: 'accept-edits',
      effect: 'allow',
      reason: 'the session accepts edits of files in the project',
    }
  }
  return undefined
}

/** A question that only a rule for sensitive paths answers. */
function isGuarded({ kind }: Question): boolean {
  return kind === 'sensitive-path' || kind === 'protected-path'
}

/** Such a rule says which programs run, and not what they reach. */
function speaksOfCommands({ argv, commands }: CompiledRule): boolean {
  return argv !== undefined || commands !== undefined
}

function isProjectEdit(facts: DecisionFacts, project: string): boolean {
  const { operations } = facts
  if (facts.definition.sideEffect !== 'filesystem' || operations === undefined || operations.length === 0)
    return false
  return operations.every(
    (operation) =>
      (operation.kind === 'fs.read' || operation.kind === 'fs.write') &&
      operation.path.startsWith(`${project}/`),
  )
}

function toQuestion({ path, why }: { path: string; why: string }): Pick<Question, 'verdict'> {
  const reason = `"${path}" is obeyed by other programs: ${why}`
  return { verdict: { layer: 'defaults', rule: 'write', effect: 'ask', reason } }
}

/** A file of the project that a call writes and that other programs of the person run or obey. */
function obeyedPath(
  { operations = [] }: DecisionFacts,
  { project }: DecisionBase,
): { path: string; why: string } | undefined {
  for (const operation of operations) {
    if (operation.kind !== 'fs.write' || !operation.path.startsWith(`${project}/`)) continue
    const why = whyObeyed(operation.path.slice(project.length + 1))
    if (why !== undefined) return { path: operation.path, why }
  }
  return undefined
}

function sensitivePath(facts: DecisionFacts, base: DecisionBase): string | undefined {
  for (const operation of facts.operations ?? []) {
    if (
      (operation.kind === 'fs.read' || operation.kind === 'fs.write') &&
      base.sensitive.covers(operation.path)
    )
      return operation.path
  }
  return undefined
}

/** A path that a program of the call wrote, and that is written only if a person says so. */
function protectedPath({ operations = [] }: DecisionFacts, { writable }: DecisionBase): string | undefined {
  for (const operation of operations) {
    if (operation.kind !== 'fs.write' || operation.by !== 'program' || operation.removed === true) continue
    const root = writable.find((each) => isInside(operation.path, each))
    if (root !== undefined && fateOf(relative(root, operation.path)) !== undefined) return operation.path
  }
  return undefined
}

function reachesNetwork(facts: DecisionFacts): boolean {
  const { definition } = facts
  if (definition.sideEffect === 'network' || definition.tags.includes('network')) return true
  return facts.operations?.some((operation) => operation.kind === 'net') ?? false
}

/** Before the call is planned, its hosts are not known. */
function mayBeListed(facts: DecisionFacts, base: DecisionBase): boolean {
  if (facts.operations === undefined) return (base.network.hosts ?? []).length > 0
  return onlyListedHosts(facts, base)
}

function onlyListedHosts(facts: DecisionFacts, base: DecisionBase): boolean {
  const reached = facts.operations?.filter((operation) => operation.kind === 'net') ?? []
  const listed = base.network.hosts ?? []
  return (
    reached.length > 0 &&
    reached.every((operation) => listed.some((pattern) => matchHost(pattern, operation.host)))
  )
}

export function toVerdict(rule: CompiledRule): Verdict {
  return { layer: rule.layer, rule: rule.id, effect: rule.effect, reason: rule.reason }
}

function settle(
  decided: Verdict,
  matched: readonly CompiledRule[],
  more: Pick<Decision, 'denial' | 'keepable'>,
): Decision {
  const others =
    matched.length === 0
      ? []
      : matched
          .map(toVerdict)
          .filter((verdict) => verdict.rule !== decided.rule || verdict.layer !== decided.layer)
  const decision: Decision = {
    effect: decided.effect satisfies Effect,
    layer: decided.layer,
    rule: decided.rule,
    reason: decided.reason,
    verdicts: [decided, ...others],
  }
  if (more.denial !== undefined) decision.denial = more.denial
  if (more.keepable !== undefined) decision.keepable = more.keepable
  return decision
}
