import type { LoadedSkill } from '../../contract/base/skill.ts'
import type { Bounds } from '../../contract/policy.ts'
import { withCopies } from '../../kit/with-copies.ts'

const none: readonly string[] = []
const copiesBySkills = new WeakMap<readonly LoadedSkill[], readonly string[]>()
const boundsByCopies = new WeakMap<readonly string[], WeakMap<Bounds, Bounds>>()

/** The folders in which the files of these skills lie: the same list for the same skills. */
export function copiesOf(skills: readonly LoadedSkill[]): readonly string[] {
  if (skills.length === 0) return none
  const known = copiesBySkills.get(skills)
  if (known !== undefined) return known
  const copies = skills.flatMap(({ copy }) => (copy === undefined ? [] : [copy]))
  copiesBySkills.set(skills, copies)
  return copies
}

/** Bounds in which these folders may be read too: the same object for the same two, as profiles are kept by it. */
export function boundsWith(bounds: Bounds, copies: readonly string[]): Bounds {
  if (copies.length === 0) return bounds
  const known = boundsByCopies.get(copies) ?? new WeakMap<Bounds, Bounds>()
  boundsByCopies.set(copies, known)
  const made = known.get(bounds) ?? withCopies(bounds, copies)
  known.set(bounds, made)
  return made
}
