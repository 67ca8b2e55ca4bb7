import type { LoadedSkill } from '../../contract/base/skill.ts'

/** The skills that a session follows, in the order in which they were loaded. In memory only, but for a session with an id of its own. */
export interface SessionSkills {
  /** The same list for as long as nothing changed. */
  list(): readonly LoadedSkill[]
  /** In the place of the one with this name. Rejects, and changes nothing, if the store does not take it. */
  put(skill: LoadedSkill): Promise<void>
  /** Rejects, and changes nothing, if the store does not take it. */
  remove(names: readonly string[]): Promise<void>
}
