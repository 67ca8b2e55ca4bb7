import type { Skill } from '../contract/base/skill.ts'
import { markUntrusted } from './text/mark-untrusted.ts'
import { shorten } from './text/shorten.ts'
import { showControls } from './text/show-controls.ts'

/** The longest description that is shown, as the format of skills means them. */
const longestDescription = 1024

/** Skills as a model chooses among them: one line each, those of strangers between marks. */
export function showSkills(skills: readonly Skill[]): string {
  const lines = (wanted: (skill: Skill) => boolean): string[] => skills.filter(wanted).map(describe)
  const own = lines((skill) => !isOfStranger(skill))
  const strange = lines(isOfStranger)
  const marked =
    strange.length === 0
      ? []
      : [markUntrusted(strange.join('\n'), 'skills', 'files of the project and of packages')]
  return [...own, ...marked].join('\n')
}

/** Whether neither the person nor the program chose what a skill says. */
export function isOfStranger({ origin }: Pick<Skill, 'origin'>): boolean {
  return origin === 'package' || origin === 'project'
}

function describe({ name, description }: Skill): string {
  return showControls(`- ${name}: ${shorten(description.replaceAll(/\s+/g, ' '), longestDescription)}`)
}
