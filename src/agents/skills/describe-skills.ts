import type { Skill } from '../../contract/base/skill.ts'
import { showSkills } from '../../kit/show-skills.ts'

/** Characters of all names and descriptions that a run begins with. */
const mostCharacters = 16_384

const intro =
  'Skills say how tasks of a kind are done here. Before you do a task that one of these is for, load it by its name with the tool that loads skills:'

/** What a model is told of skills before it loads one; undefined if there is none for it. */
export function describeSkills(skills: readonly Skill[]): string | undefined {
  const shown = skills.filter(({ forModels }) => forModels)
  if (shown.length === 0) return undefined
  let characters = 0
  const fitting = shown.filter((skill) => (characters += showSkills([skill]).length) <= mostCharacters)
  const others = shown.length - fitting.length
  const more = others === 0 ? [] : [`There are ${others} more, which the tool that lists skills shows.`]
  return [intro, showSkills(fitting), ...more].join('\n')
}
