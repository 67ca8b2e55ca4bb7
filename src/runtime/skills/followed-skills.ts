import type { SkillRegistry } from '../../contract/base/skill.ts'
import type { FollowedSkill } from '../../contract/policy.ts'
import type { CallScope } from '../state/scope.ts'

/** The skills that a session follows, as a decision sees them; undefined for none. */
export function followedSkills({ tenant, session }: CallScope): readonly FollowedSkill[] | undefined {
  const skills = session.skills()
  if (skills.length === 0) return undefined
  const registry = registryOf(tenant)
  // In a process without a registry nothing tells whether the files are what was loaded.
  return skills.map((skill) => ({
    skill,
    isIntact: skill.copy === undefined || registry?.isIntact(skill) === true,
  }))
}

/** The registry that the host handed in; undefined if it has none. */
export function registryOf({ services }: CallScope['tenant']): SkillRegistry | undefined {
  // What a host hands in under this name is one.
  return services['skillRegistry'] as SkillRegistry | undefined
}
