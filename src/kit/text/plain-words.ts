import { dropInvisible } from './drop-invisible.ts'

/** Words of a stranger for a person to read: at most so many characters, no invisible ones, and no gap that hides what follows. */
export function plainWords(text: string, most: number): string {
  const plain = dropInvisible(text.slice(0, most + 1).toWellFormed())
    .replaceAll(/\n\s*\n/g, '\n\n')
    .trim()
  return text.length > most ? `${plain.slice(0, most)}…` : plain
}
