import type { SkillRule } from '../contract/base/skill.ts'
import type { Operation } from '../contract/base/plan.ts'
import type { DecisionFacts, FollowedSkill, Verdict } from '../contract/policy.ts'
import { isInside } from '../kit/match/is-inside.ts'
import { matchPattern } from '../kit/match/match-pattern.ts'
import type { CommandContext } from './commands/find-parts.ts'
import {
  compileRule,
  indexRules,
  isFor,
  isWrittenByProgram,
  type CompiledRule,
  type RuleIndex,
  type RulePlaces,
} from './compile-rules.ts'
import { matchOpenRules } from './match-open-rules.ts'

/** The rules of skills, made ready to match in the places of one tenant. */
export type SkillRules = (rules: readonly SkillRule[]) => RuleIndex

/** Compiles the rules of each skill once. */
export function createSkillRules(places: RulePlaces): SkillRules {
  const known = new WeakMap<readonly SkillRule[], RuleIndex>()
  return (rules) => {
    let found = known.get(rules)
    if (found === undefined) {
      const compiled = rules.map((rule, index) => compileRule(rule, { layer: 'skill', index, places }))
      known.set(rules, (found = indexRules(compiled)))
    }
    return found
  }
}

/** What the skills of a session say of a call: asks and denials, never more. The strictest comes first. */
export function findSkillVerdicts(
  facts: DecisionFacts,
  base: CommandContext & { readonly skillRules: SkillRules },
): Verdict[] {
  const { skills = [], operations } = facts
  if (skills.length === 0 || operations === undefined) return []
  const verdicts = skills.flatMap((followed) => findVerdict(followed, { ...facts, operations }, base) ?? [])
  return verdicts.toSorted((left, right) => Number(right.effect === 'deny') - Number(left.effect === 'deny'))
}

type PlannedFacts = DecisionFacts & { readonly operations: readonly Operation[] }

function findVerdict(
  { skill, isIntact }: FollowedSkill,
  facts: PlannedFacts,
  base: CommandContext & { readonly skillRules: SkillRules },
): Verdict | undefined {
  const { name, narrowing } = skill
  const { bounded = [], within = [], denied = [] } = narrowing
  const say = (effect: 'ask' | 'deny', reason: string): Verdict => ({
    layer: 'skill',
    rule: name,
    effect,
    reason,
  })
  const written = facts.operations.find(
    (operation) => operation.kind === 'fs.write' && isOf(skill, operation.path),
  )
  if (written?.kind === 'fs.write')
    return say(
      'deny',
      `"${written.path}" is a file of the skill "${name}", which is not written while it is followed`,
    )
  if (!isIntact && facts.operations.some((operation) => reaches(skill, operation)))
    return say('deny', `the files of the skill "${name}" were changed since it was loaded: load it again`)
  const against = findMatching(denied, facts, base)
  if (against.some(({ effect }) => effect === 'deny')) return say('deny', `the skill "${name}" leaves it out`)
  if (against.length > 0)
    return say('ask', `the command cannot be read safely, and the skill "${name}" may leave it out`)
  if (!bounded.some((pattern) => matchPattern(pattern, facts.definition.name))) return undefined
  if (isOfPrograms(facts) || readsSkills(facts) || findMatching(within, facts, base).length > 0)
    return undefined
  return say('ask', `the skill "${name}" names other calls of this tool than this one`)
}

function isOf({ copy, folder }: FollowedSkill['skill'], path: string): boolean {
  return [copy, folder].some((each) => each !== undefined && isInside(path, each))
}

/** A program may run any of the files. */
function reaches(skill: FollowedSkill['skill'], operation: Operation): boolean {
  return operation.kind === 'process' || (operation.kind === 'fs.read' && isOf(skill, operation.path))
}

/** What a program reaches of the network and what it writes is asked about by itself; which programs run was asked before. */
function isOfPrograms({ definition, operations }: PlannedFacts): boolean {
  return (
    definition.capabilities.proc.executables.length > 0 &&
    operations.length > 0 &&
    operations.every((operation) => operation.kind === 'net' || isWrittenByProgram(operation))
  )
}

/** Whether a call only reads files of skills that are followed: their own text tells the agent to. */
function readsSkills({ operations, skills = [] }: PlannedFacts): boolean {
  return (
    operations.length > 0 &&
    operations.every(
      (operation) =>
        operation.kind === 'fs.read' &&
        skills.some(({ skill: { copy } }) => copy !== undefined && isInside(operation.path, copy)),
    )
  )
}

function findMatching(
  rules: readonly SkillRule[],
  facts: PlannedFacts,
  base: CommandContext & { readonly skillRules: SkillRules },
): readonly CompiledRule[] {
  if (rules.length === 0) return []
  const { settled, open, openByInput } = base.skillRules(rules).rulesFor(facts.definition)
  const candidates = facts.operations.length === 0 ? openByInput : open
  return [...settled.filter((rule) => isFor(rule, facts)), ...matchOpenRules(candidates, facts, base)]
}
