import { wordBreak } from '../../kit/shell/command-pattern.ts'
import type { ShellWord } from '../../kit/shell/reading.ts'

/** A command as patterns see it. */
export interface CommandView {
  /** Its program by name, where it may be named so. */
  readonly name: string | undefined
  /** Its program by path, in each way it may be named so. */
  readonly paths: readonly string[]
  /** The other words, each after a word break. */
  readonly rest: string
  /** How many letters of `rest`, from its start, are known for sure; less than its length where not all are. */
  readonly known: number
}

/** The view of some words, the first of which goes by these names. */
export function toView(
  words: readonly ShellWord[],
  { name, paths }: Pick<CommandView, 'name' | 'paths'>,
): CommandView {
  let rest = ''
  let known: number | undefined
  for (const word of words.slice(1)) {
    rest += wordBreak
    if (word.known < word.text.length) known ??= rest.length + Math.max(0, word.known)
    rest += word.text
  }
  return { name, paths, rest, known: known ?? rest.length }
}

/** Whether all of a word is known. */
export function isKnown({ text, known }: ShellWord): boolean {
  return known >= text.length
}

/** The last part of a path. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Words whose values are known. */
export function toKnownWords(texts: readonly string[]): ShellWord[] {
  return texts.map((text) => ({ text, known: text.length, as: 'one' }))
}
