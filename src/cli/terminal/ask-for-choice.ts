import type { Person } from './terminal.ts'

export interface ChoiceQuestion<Choice> {
  readonly prompt: string
  /** What may be typed, and what it means; several words may mean the same. */
  readonly words: { readonly [word: string]: Choice }
  /** The words whose first letters are not enough. */
  readonly inFull?: readonly string[]
  /** Said where a line is not understood. */
  readonly hint: string
}

const mostTries = 5

/**
 * Asks until a line is understood, five times at most. Undefined if the person ends the talk, or where none was understood, which they
 * are told: that is a yes to nothing.
 */
export async function askForChoice<Choice>(
  person: Person,
  { prompt, words, inFull = [], hint }: ChoiceQuestion<Choice>,
): Promise<Choice | undefined> {
  for (let tries = 0; tries < mostTries; tries++) {
    const line = await person.ask(prompt)
    if (line === undefined) return undefined
    const typed = line.trim().toLowerCase()
    const offered = Object.entries(words).filter(([word]) => word === typed || !inFull.includes(word))
    const choice = readWord(typed, offered)
    if (choice !== undefined) return choice
    person.show(`  That is not understood. ${hint}\n`)
  }
  person.show('  Nothing was understood, which is taken as a no.\n')
  return undefined
}

/** A word or the first letters of one, in any case, where all words that begin so mean the same; one that is typed in full goes before those. */
export function readWord<Choice>(
  line: string,
  words: readonly (readonly [word: string, choice: Choice])[],
): Choice | undefined {
  const text = line.trim().toLowerCase()
  if (text === '') return undefined
  const begun = words.filter(([word]) => word.toLowerCase().startsWith(text))
  const full = begun.filter(([word]) => word.length === text.length)
  const meant = new Set((full.length > 0 ? full : begun).map(([, choice]) => choice))
  return meant.size === 1 ? [...meant][0] : undefined
}

/** Whether the person says yes; anything but that is a no. */
export async function askYesOrNo(person: Person, prompt: string): Promise<boolean> {
  const hint = 'Type yes or no.'
  return (await askForChoice(person, { prompt, words: { yes: true, no: false }, hint })) ?? false
}
