import type { Operation } from '../../contract/tool/plan.ts'
import { readCommandLine } from '../../kit/shell/read-command-line.ts'
import type { ShellCommand, ShellWord } from '../../kit/shell/reading.ts'
import { baseName, isKnown, toKnownWords, toView, type CommandView } from './command-view.ts'
import { findScripts, findVariableScripts, type FoundScripts } from './find-scripts.ts'
import { knownUpTo, unwrap } from './wrappers.ts'

/** What a process may run, as far as its words tell: it itself, and what stands inside of it. */
export interface Runs {
  readonly views: readonly CommandView[]
  /** What it would run if a word were the first of a command, where one cannot tell which is. */
  readonly possible: readonly CommandView[]
  /** Whether it may run something that is not among these. */
  readonly hidden: boolean
}

interface Draft {
  views: CommandView[]
  possible: CommandView[]
  hidden: boolean
  /** How many letters more may be looked at; what is beyond is hidden. */
  letters: number
}

/** Where a command stands. */
interface Place {
  readonly draft: Draft
  readonly depth: number
  /** Whether it is one only if its first word begins a command. */
  readonly perhaps: boolean
}

const maxLetters = 4 * 1024 * 1024
/** So deep are commands followed that run commands; what is deeper is hidden. */
const maxDepth = 40
/** Builtins and programs whose words set variables. */
const setters = new Set(['declare', 'doas', 'env', 'export', 'local', 'readonly', 'sudo', 'typeset'])

/** Everything that a process may run: after assignments, wrappers such as `env` and `sudo`, in `sh -c`, `eval` and `find -exec`. */
export function findRuns({ argv, executable }: Extract<Operation, { kind: 'process' }>): Runs {
  const draft: Draft = { views: [], possible: [], hidden: false, letters: maxLetters }
  const words = toKnownWords(argv)
  addCommand(toCommand(words), { draft, depth: 0, perhaps: false })
  if (words.length > 0 && executable !== argv[0])
    draft.views.push(toView(words, { name: baseName(executable), paths: [executable] }))
  return draft
}

function toCommand(words: readonly ShellWord[]): ShellCommand {
  return { assigned: [], words, opensFile: false, input: undefined }
}

function addCommand(command: ShellCommand, place: Place): void {
  const { draft, depth } = place
  let words = command.words
  if (command.assigned.length > 0) addView([...command.assigned, ...words], place)
  for (const each of command.assigned) addFound(findVariableScripts(each), place)
  for (let layer = depth; words.length > 0; layer++) {
    const [program] = words
    if (program === undefined || !isKnown(program) || layer > maxDepth || draft.letters < 0) {
      draft.hidden = true
      return
    }
    addView(words, place)
    const name = baseName(program.text)
    addScripts(name, { ...command, words }, { ...place, depth: layer + 1 })
    const inner = unwrap(name, words)
    if (inner === undefined) return
    if (!inner.sure) draft.hidden = true
    if (inner.loose && !place.perhaps) addEach(words.slice(1), { ...place, depth: layer + 1, perhaps: true })
    words = inner.words
  }
}

/** Takes every word for the first of a command. */
function addEach(words: readonly ShellWord[], place: Place): void {
  for (const at of words.keys())
    if (isKnown(words[at] ?? { text: ' ', known: 0, as: 'one' }))
      addCommand(toCommand(words.slice(at)), place)
}

function addView(words: readonly ShellWord[], { draft, perhaps }: Place): void {
  const program = words[0]?.text ?? ''
  const view = toView(words, { name: baseName(program), paths: program.includes('/') ? [program] : [] })
  ;(perhaps ? draft.possible : draft.views).push(view)
  draft.letters -= view.rest.length + 1
}

/** What a command runs that stands in one of its words, or in several of them. */
function addScripts(name: string, command: ShellCommand, place: Place): void {
  addFound(findScripts(name, command.words, command.input), place)
  if (setters.has(name)) for (const word of command.words.slice(1)) addFound(findVariableScripts(word), place)
  if (name !== 'find') return
  for (const words of findActions(command.words)) addCommand(toCommand(knownUpTo(words, '{}')), place)
}

function addFound({ scripts, file, unseen }: FoundScripts, place: Place): void {
  const { draft } = place
  if (unseen) draft.hidden = true
  for (const { text, known } of scripts) {
    if (!known) draft.hidden = true
    const reading = readCommandLine(text)
    if (reading.hidden) draft.hidden = true
    for (const each of reading.commands) addCommand(each, place)
  }
  if (file.length > 0) addCommand(toCommand(file), place)
}

/** The commands that `find` runs for what it finds. */
function findActions(words: readonly ShellWord[]): (readonly ShellWord[])[] {
  const actions: (readonly ShellWord[])[] = []
  let start: number | undefined
  for (const [at, { text }] of words.entries()) {
    if (start === undefined) {
      if (/^-(?:exec|execdir|ok|okdir)$/.test(text)) start = at + 1
    } else if (text === ';' || (text === '+' && words[at - 1]?.text === '{}')) {
      actions.push(words.slice(start, at))
      start = undefined
    }
  }
  return start === undefined ? actions : [...actions, words.slice(start)]
}
