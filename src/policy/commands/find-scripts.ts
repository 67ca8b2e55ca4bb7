import type { ShellWord } from '../../kit/shell/reading.ts'
import { isKnown } from './command-view.ts'

/** A text that a command runs as a command line. */
export interface Script {
  readonly text: string
  /** Whether all of it is known. */
  readonly known: boolean
}

const shells = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'mksh', 'rbash'])
const withCommandOption = new Set(['su', 'runuser', 'script', 'flock', 'sg'])

/** The texts that a command runs as command lines; `unseen` where it may run one that is not among its words. */
export function findScripts(
  program: string,
  words: readonly ShellWord[],
  input: string | undefined,
): { scripts: readonly Script[]; unseen: boolean } {
  const args = words.slice(1)
  if (shells.has(program)) return shellScripts(args, input)
  if (program === 'eval') return found(join(args))
  if (program === 'trap') return found(toScript(args[0]))
  if (program === 'watch') return found(join(afterOptions(args)))
  if (program === 'env') return found(optionValue(args, /^(?:-[a-zA-Z]*S|--split-string(?:=|$))/))
  if (withCommandOption.has(program)) return found(optionValue(args, /^(?:-[a-zA-Z]*c$|--command(?:=|$))/))
  return none
}

const none = { scripts: [], unseen: false }

function found(script: Script | undefined): { scripts: readonly Script[]; unseen: boolean } {
  return script === undefined ? none : { scripts: [script], unseen: false }
}

function toScript(word: ShellWord | undefined): Script | undefined {
  return word === undefined ? undefined : { text: word.text, known: isKnown(word) }
}

function join(words: readonly ShellWord[]): Script {
  return { text: words.map(({ text }) => text).join(' '), known: words.every(isKnown) }
}

/** What follows the options of `watch`, two of which take a value. */
function afterOptions(words: readonly ShellWord[]): readonly ShellWord[] {
  const at = words.findIndex(
    ({ text }, index) =>
      !text.startsWith('-') && !/^-(?:n|q|-interval|-equexit)$/.test(words[index - 1]?.text ?? ''),
  )
  return at < 0 ? [] : words.slice(at)
}

/** The value of an option: after it in the same word, or the next word. */
function optionValue(words: readonly ShellWord[], option: RegExp): Script | undefined {
  const at = words.findIndex(({ text }) => option.test(text))
  const word = words[at]
  if (word === undefined) return undefined
  const inline = word.text.replace(option, '')
  return inline === '' ? toScript(words[at + 1]) : { text: inline, known: isKnown(word) }
}

/** `sh -c TEXT`, or what a shell without a script is given on its standard input. */
function shellScripts(
  args: readonly ShellWord[],
  input: string | undefined,
): { scripts: readonly Script[]; unseen: boolean } {
  let at = 0
  let takesText = false
  let takesInput = false
  for (; at < args.length; at++) {
    const text = args[at]?.text ?? ''
    if (!/^[-+]./.test(text)) break
    if (text.startsWith('--')) {
      if (/^--(?:rcfile|init-file)$/.test(text)) at++
      continue
    }
    takesText ||= text.includes('c')
    takesInput ||= text.includes('s')
    if (/[oO]$/.test(text)) at++
  }
  if (takesText) return found(toScript(args[at]))
  if (at < args.length && !takesInput) return none
  return input === undefined ? { scripts: [], unseen: true } : found({ text: input, known: true })
}
