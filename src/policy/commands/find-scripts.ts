import type { ShellWord } from '../../kit/shell/reading.ts'
import { isKnown } from './command-view.ts'
import { optionScripts, optionValues, toScript, type Script } from './option-scripts.ts'

const shells = new Set(['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'mksh', 'rbash'])

/** Programs that read command lines from their standard input, unless they are given one. */
const readsInput = new Set(['at', 'batch', 'crontab', 'newgrp', 'runuser', 'su'])
/** Builtins that take values apart, and run the substitutions in them. */
const evaluating = new Set(['declare', 'export', 'let', 'local', 'readonly', 'typeset'])

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
  if (program === 'alias') return found(...args.map(toAliased))
  if (program === 'enable') return { ...none, unseen: args.some(({ text }) => /^-[a-z]*f/.test(text)) }
  if (program === 'run-parts' || (program === 'fc' && args.length > 0)) return { ...none, unseen: true }
  if (program === 'trap') return found(...trapped(args))
  if (program === 'watch') return found(join(afterOptions(args)))
  if (program === 'parallel') return found(...lines(args).map(toScript))
  if (program === 'env') return found(...splitByEnv(args))
  if (program === 'socat') return found(...args.flatMap(toAddressed))
  if (evaluating.has(program)) return { ...none, unseen: mayEvaluate(args) }
  if (program === 'gdb') return found(...args.flatMap(toDebugged))
  const scripts = optionScripts(program, args)
  // The command of a group may stand without an option.
  if (program === 'sg' && args[1] !== undefined) scripts.push(toScript(args[1]))
  if (scripts.length > 0) return found(...scripts)
  return takesInput(program, args, input) ? inputScript(input) : none
}

/** A shell of another user reads what it is given, and so does what runs commands later. */
function takesInput(program: string, args: readonly ShellWord[], input: string | undefined): boolean {
  if (program === 'sudo' || program === 'doas')
    return input !== undefined && args.some(({ text }) => /^-(?:[A-Za-z]*[si]|-shell|-login)/.test(text))
  return readsInput.has(program) && !args.some(({ text }) => /^-[lr]/.test(text))
}

/** In a list, a number or an expression substitutions are run, whatever quotes there were. */
function mayEvaluate(args: readonly ShellWord[]): boolean {
  const takesApart = args.some(({ text }) => /^-[A-Za-z]*[aAi]/.test(text))
  return args.some((word) => /\$\(|`/.test(word.text.slice(0, word.known)) || (takesApart && !isKnown(word)))
}

/** What a variable, given as `NAME=value`, lets shells and other programs run. */
export function findVariableScripts({ text, known }: ShellWord): FoundScripts {
  const [, name = '', value = ''] = /^(\w+)\+?=([^]*)$/.exec(text) ?? []
  const script = { text: value, known: known >= text.length }
  // Each names a file that is loaded or run before anything else is.
  if (/^(?:BASH_ENV|LD_AUDIT|LD_PRELOAD)$/.test(name) || (name === 'ENV' && value.includes('/')))
    return { ...none, unseen: value !== '' }
  const isRun =
    /^(?:PS[0-4]|PROMPT_COMMAND|LESSOPEN|LESSCLOSE)$|(?:EDITOR|PAGER|VISUAL|BROWSER|SSH_COMMAND|ASKPASS|EXTERNAL_DIFF|PROXY_COMMAND)$/
  return isRun.test(name) ? found(script) : none
}

const none: FoundScripts = { scripts: [], file: [], unseen: false }

function found(...scripts: readonly Script[]): FoundScripts {
  return scripts.length === 0 ? none : { ...none, scripts }
}

/** What stands for a name from then on. */
function toAliased(word: ShellWord): Script {
  return { text: word.text.slice(word.text.indexOf('=') + 1), known: isKnown(word) }
}

function join(words: readonly ShellWord[]): Script {
  return { text: words.map(({ text }) => text).join(' '), known: words.every(isKnown) }
}

function trapped(args: readonly ShellWord[]): Script[] {
  const [first] = args[0]?.text === '--' ? args.slice(1) : args
  return first === undefined ? [] : [toScript(first)]
}

/** An address of `socat` that is a command, in either half of a pair; commas stand before its options, and in a command behind a backslash. */
function toAddressed(word: ShellWord): Script[] {
  return word.text.split('!!').flatMap((address) => {
    const [, command] = /^(?:exec|system|shell|shell-fork):([^]*)$/i.exec(address) ?? []
    if (command === undefined) return []
    return command.split(',').map((text) => ({ text, known: isKnown(word) }))
  })
}

/** A command of `gdb`, behind or in one of its options: one for a shell, or one that may hold such a one, as `pipe` does. */
function toDebugged(word: ShellWord): Script[] {
  const text = word.text.replace(/^--?[a-z-]+=/, '')
  const ofShell = text.replace(/^\s*(?:!|she?l?l?\s)/, '')
  const known = isKnown(word)
  return /\s/.test(text) || !known ? [text, ofShell].map((each) => ({ text: each, known })) : []
}

/** What follows the options of `watch`, two of which take a value. */
function afterOptions(words: readonly ShellWord[]): readonly ShellWord[] {
  const takesNext = /^(?:-[a-z]*[nq]|--(?:i|eq)[a-z]*)$/
  const at = words.findIndex(
    ({ text }, index) => !text.startsWith('-') && !takesNext.test(words[index - 1]?.text ?? ''),
  )
  return at < 0 ? [] : words.slice(at)
}

/** Words that `parallel` hands to a shell: those that are more than a word, and where it has no command each argument. */
function lines(args: readonly ShellWord[]): readonly ShellWord[] {
  const at = args.findIndex(({ text }) => !text.startsWith('-'))
  return args[at]?.text === ':::' ? args.slice(at + 1) : args.filter(({ text }) => /\s/.test(text))
}

/** `env` takes the text of `-S` apart and goes on as if its words had been given to it, with those that follow. */
function splitByEnv(args: readonly ShellWord[]): Script[] {
  return optionValues(args, { letter: 'S', long: 'split-string' }).map(({ value, rest }) => {
    const { text, known } = join([value, ...rest])
    return { text: `env ${text}`, known }
  })
}

/** `sh -c TEXT`, `sh FILE`, or what a shell without a script is given on its standard input. */
function shellScripts(args: readonly ShellWord[], input: string | undefined): FoundScripts {
  let at = 0
  let takesText = false
  let takesInput = false
  for (; at < args.length; at++) {
    const text = args[at]?.text ?? ''
    if (text === '-' || text === '--') {
      at++
      break
    }
    if (!/^[-+]/.test(text)) break
    if (text.startsWith('--')) {
      if (/^--(?:rcfile|init-file)$/.test(text)) at++
      continue
    }
    takesText ||= text.includes('c')
    takesInput ||= text.includes('s')
    // Each takes a word, wherever it stands among the letters.
    at += text.match(/[oO]/g)?.length ?? 0
  }
  const rest = args.slice(at)
  if (takesText) return found(...rest.slice(0, 1).map(toScript))
  return rest.length > 0 && !takesInput ? fileScript(rest, input) : inputScript(input)
}

/** A file as a script, with its arguments; one of the system may be the standard input, or anything. */
function fileScript(words: readonly ShellWord[], input: string | undefined): FoundScripts {
  return /^\/(?:dev|proc)\//.test(words[0]?.text ?? '') ? inputScript(input) : { ...none, file: words }
}

function inputScript(input: string | undefined): FoundScripts {
  return input === undefined ? { ...none, unseen: true } : found({ text: input, known: true })
}
