import type { Configuration } from '../../contract/configuration.ts'
import type { SkillRegistry } from '../../contract/services/skill.ts'
import { createSkillRegistry } from '../../compose/sources/skill-registry.ts'

/** The skills of a command line. */
export function openSkills(
  { home }: { readonly home: string },
  skills: Configuration['skills'] = {},
): SkillRegistry {
  const { packages = [], project = true } = skills
  return createSkillRegistry({ home, packages, projectFiles: project })
}
