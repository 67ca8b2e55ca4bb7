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
const withCallback = new Set(['compgen', 'complete', 'mapfile', 'readarray'])

/** What a command runs that stands in its words. */
export interface FoundScripts {
  readonly scripts: readonly Script[]
  /** The file that it runs as a script, with its arguments. */
  readonly file: readonly ShellWord[]
  /** Whether it may run one that is not among its words. */
  readonly unseen: boolean
}

/** The texts and files that a command runs as command lines. */
export function findScripts(
  program: string,
  words: readonly ShellWord[],
  input: string | undefined,
): FoundScripts {
  const args = words.slice(1)
  if (shells.has(program)) return shellScripts(args, input)
  if (program === '.' || program === 'source') return fileScript(args, input)
  if (program === 'eval') return found(join(args))
  if (program === 'alias') return { ...none, scripts: args.map(toAliased) }
  if (program === 'hash') return found(optionValue(args, /^-[a-z]*p/))
  if (program === 'enable') return { ...none, unseen: args.some(({ text }) => /^-[a-z]*f/.test(text)) }
  if (program === 'trap') return found(toScript(args[0]))
  if (program === 'watch') return found(join(afterOptions(args)))
  if (program === 'env') return found(optionValue(args, /^(?:-[a-zA-Z]*S|--split-string(?:=|$))/))
  if (withCallback.has(program)) return found(optionValue(args, /^-[a-zA-Z]*C/))
  if (withCommandOption.has(program)) return found(optionValue(args, /^(?:-[a-zA-Z]*c$|--command(?:=|$))/))
  return none
}

const none: FoundScripts = { scripts: [], file: [], unseen: false }

function found(script: Script | undefined): FoundScripts {
  return script === undefined ? none : { ...none, scripts: [script] }
}

/** What stands for a name from then on. */
function toAliased(word: ShellWord): Script {
  return { text: word.text.slice(word.text.indexOf('=') + 1), known: isKnown(word) }
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

/** `sh -c TEXT`, `sh FILE`, or what a shell without a script is given on its standard input. */
function shellScripts(args: readonly ShellWord[], input: string | undefined): FoundScripts {
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
  return at < args.length && !takesInput ? fileScript(args.slice(at), input) : inputScript(input)
}

/** A file as a script, with its arguments; one of the system may be the standard input, or anything. */
function fileScript(words: readonly ShellWord[], input: string | undefined): FoundScripts {
  return /^\/(?:dev|proc)\//.test(words[0]?.text ?? '') ? inputScript(input) : { ...none, file: words }
}

function inputScript(input: string | undefined): FoundScripts {
  return input === undefined ? { ...none, unseen: true } : found({ text: input, known: true })
}
