import { join, relative } from 'node:path'
import type { DecisionFacts } from '../contract/policy.ts'
import { isInside } from '../kit/match/is-inside.ts'
import { fateOf } from '../kit/match/protected-path.ts'
import { folderOf, restrictedPaths } from './compile-rules.ts'
import { decide, matchedRules, type DecisionBase } from './decide.ts'

/**
 * Whether a program of a call may write less than its bounds: a rule denies paths there or asks for them, a skill that is followed lies there, or the
 * call is let through only to look.
 */
export function limitsWrites(facts: DecisionFacts, base: DecisionBase): boolean {
  const { writable, rules } = base
  const asking = [facts, ...(facts.ancestors ?? [])]
  const guarded = asking
    .flatMap((each) => restrictedPaths(rules.rulesFor(facts.definition), each))
    .map(folderOf)
  if (writable.some((root) => guarded.some((folder) => isInside(folder, root) || isInside(root, folder))))
    return true
  if (hasOpenSkill(facts, writable)) return true
  // Only a rule on commands can let a call do nothing but look.
  if (!matchedRules(facts, base).some(({ effect, commands }) => effect === 'allow' && commands !== undefined))
    return false
  const [root = base.project] = writable
  const written = { kind: 'fs.write', path: join(root, 'any'), by: 'program' } as const
  return decide({ ...facts, operations: [...(facts.operations ?? []), written] }, base).effect !== 'allow'
}

/** Whether files of a skill that is followed lie where programs could write them. */
function hasOpenSkill({ skills = [] }: DecisionFacts, writable: readonly string[]): boolean {
  const folders = skills.flatMap(({ skill: { folder, copy } }) => [folder, copy])
  return folders.some((folder) =>
    writable.some(
      (root) =>
        folder !== undefined && isInside(folder, root) && fateOf(relative(root, folder)) !== 'refused',
    ),
  )
}
