import type { Operation } from '../../contract/plan.ts'
import { readCommandLine } from '../../kit/shell/read-command-line.ts'
import type { ShellCommand, ShellWord } from '../../kit/shell/reading.ts'
import { baseName, isKnown, toKnownWords, toView, type CommandView } from './command-view.ts'
import { findScripts } from './find-scripts.ts'
import { unwrap } from './wrappers.ts'

/** What a process may run, as far as its words tell: it itself, and what stands inside of it. */
export interface Runs {
  readonly views: readonly CommandView[]
  /** Whether it may run something that is not among these. */
  readonly hidden: boolean
}

interface Draft {
  views: CommandView[]
  hidden: boolean
  /** How many letters more may be looked at; what is beyond is hidden. */
  letters: number
}

const maxLetters = 4 * 1024 * 1024
/** So deep are commands followed that run commands; what is deeper is hidden. */
const maxDepth = 40

/** Everything that a process may run: after assignments, wrappers such as `env` and `sudo`, in `sh -c`, `eval` and `find -exec`. */
export function findRuns({ argv, executable }: Extract<Operation, { kind: 'process' }>): Runs {
  const draft: Draft = { views: [], hidden: false, letters: maxLetters }
  const words = toKnownWords(argv)
  addCommand({ assigned: [], words, opensFile: false, input: undefined }, draft, 0)
  if (words.length > 0 && executable !== argv[0])
    draft.views.push(toView(words, { name: baseName(executable), paths: [executable] }))
  return draft
}

function addCommand(command: ShellCommand, draft: Draft, depth: number): void {
  let words = command.words
  if (command.assigned.length > 0) addView([...command.assigned, ...words], draft)
  for (let layer = depth; words.length > 0; layer++) {
    const [program] = words
    if (program === undefined || !isKnown(program) || layer > maxDepth || draft.letters < 0) {
      draft.hidden = true
      return
    }
    addView(words, draft)
    const name = baseName(program.text)
    addScripts(name, { ...command, words }, { draft, depth: layer + 1 })
    const inner = unwrap(name, words)
    if (inner === undefined) return
    if (!inner.sure) draft.hidden = true
    words = inner.words
  }
}

function addView(words: readonly ShellWord[], draft: Draft): void {
  const program = words[0]?.text ?? ''
  const view = toView(words, { name: baseName(program), paths: program.includes('/') ? [program] : [] })
  draft.views.push(view)
  draft.letters -= view.rest.length + 1
}

/** What a command runs that stands in one of its words, or in several of them. */
function addScripts(name: string, command: ShellCommand, to: { draft: Draft; depth: number }): void {
  const { draft, depth } = to
  const { scripts, file, unseen } = findScripts(name, command.words, command.input)
  if (unseen) draft.hidden = true
  for (const { text, known } of scripts) {
    if (!known) draft.hidden = true
    const reading = readCommandLine(text)
    if (reading.hidden) draft.hidden = true
    for (const each of reading.commands) addCommand(each, draft, depth)
  }
  if (file.length > 0)
    addCommand({ assigned: [], words: file, opensFile: false, input: undefined }, draft, depth)
  if (name !== 'find') return
  for (const words of findActions(command.words))
    addCommand({ assigned: [], words, opensFile: false, input: undefined }, draft, depth)
}

/** The commands that `find` runs for what it finds. */
function findActions(words: readonly ShellWord[]): (readonly ShellWord[])[] {
  const actions: (readonly ShellWord[])[] = []
  let start: number | undefined
  for (const [at, { text }] of words.entries()) {
    if (start === undefined) {
      if (/^-(?:exec|execdir|ok|okdir)$/.test(text)) start = at + 1
    } else if (text === ';' || text === '+') {
      actions.push(words.slice(start, at))
      start = undefined
    }
  }
  return start === undefined ? actions : [...actions, words.slice(start)]
}
