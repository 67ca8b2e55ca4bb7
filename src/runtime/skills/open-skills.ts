import { ToolFailure } from '../../contract/base/errors.ts'
import type { LoadedSkill, SkillList, SkillRegistry, Skills } from '../../contract/base/skill.ts'
import { copyJson } from '../../kit/json/copy-json.ts'
import { nearestNames } from '../../kit/text/nearest-names.ts'
import type { CallScope } from '../state/scope.ts'
import { registryOf } from './followed-skills.ts'

/** So many skills are followed at a time, with those of the sessions above. */
const mostLoaded = 4

/** The skills of the session of a call. */
export function openSkills({ tenant, session }: CallScope): Skills {
  const registry = registryOf(tenant)
  const { project } = tenant
  const list = async (): Promise<SkillList> => registry?.list(project) ?? { skills: [], issues: [] }
  return {
    list,
    loaded: () => session.skills(),
    tools: () => [...session.names()],
    follow: (loaded) => session.ownSkills.put(copyJson(loaded)),
    async load(name) {
      const { skills } = await list()
      const skill = skills.find((each) => each.name === name)
      if (skill === undefined || registry === undefined)
        throw unknownSkill(
          name,
          skills.filter(({ forModels }) => forModels).map((each) => each.name),
        )
      if (!skill.forModels) throw notForModels(name)
      const before = session.skills()
      const own = session.ownSkills.list().find((each) => each.name === name)
      if (own === undefined && before.length >= mostLoaded) throw tooMany(before)
      const { files, digest, copy } = await openCopy(registry, skill, session.principal.tenant)
      const loaded: LoadedSkill = {
        name,
        origin: skill.origin,
        digest,
        narrowing: skill.narrowing,
        ...(skill.folder !== undefined && { folder: skill.folder }),
        ...(copy !== undefined && { copy }),
      }
      await session.ownSkills.put(loaded)
      return { skill, loaded, files, changed: own !== undefined && own.digest !== digest }
    },
  }
}

async function openCopy(
  registry: SkillRegistry,
  skill: Parameters<SkillRegistry['open']>[0],
  tenant: string,
) {
  try {
    return await registry.open(skill, tenant)
  } catch (error) {
    if (error instanceof ToolFailure) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new ToolFailure({ reason: 'skill_unusable', message: why, data: { skill: skill.name } })
  }
}

function unknownSkill(name: string, names: readonly string[]): ToolFailure {
  const [nearest] = nearestNames(name, names, 1)
  const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`
  return new ToolFailure({
    reason: 'unknown_skill',
    message: `There is no skill "${name}".${hint} internal.list_skills lists those that there are.`,
    data: { skill: name },
  })
}

function notForModels(name: string): ToolFailure {
  return new ToolFailure({
    reason: 'skill_not_for_models',
    message: `The author of the skill "${name}" says that only a person starts it. Ask the user, or go on without it.`,
    data: { skill: name },
  })
}

function tooMany(loaded: readonly LoadedSkill[]): ToolFailure {
  const names = loaded.map(({ name }) => `"${name}"`).join(', ')
  return new ToolFailure({
    reason: 'too_many_skills',
    message: `At most ${mostLoaded} skills are followed at a time, and these are: ${names}. Finish the task with them first.`,
    data: { loaded: loaded.map(({ name }) => name) },
  })
}
