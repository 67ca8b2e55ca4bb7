import type { SessionSkills } from '../state/session-skills.ts'

/** The skills of a session of which nothing is kept. */
export function createSessionSkills(): SessionSkills {
  let loaded: ReturnType<SessionSkills['list']> = []
  return {
    list: () => loaded,
    async put(skill) {
      loaded = [...loaded.filter(({ name }) => name !== skill.name), skill]
    },
    async remove(names) {
      loaded = loaded.filter(({ name }) => !names.includes(name))
    },
  }
}
