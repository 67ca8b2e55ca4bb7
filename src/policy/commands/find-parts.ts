import type { Operation } from '../../contract/tool/plan.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import { readCommandLine } from '../../kit/shell/read-command-line.ts'
import type { ShellCommand, ShellWord } from '../../kit/shell/reading.ts'
import { isProgram } from './match-program.ts'
import { baseName, isKnown, toKnownWords, toView, type CommandView } from './command-view.ts'
import { wordsToName } from './harmless/judge-arguments.ts'
import { looksOnly } from './harmless/looks-only.ts'
import { areHarmless, findTransparent } from './transparent.ts'

/** One command that an allow must cover. */
export interface Part {
  /** The command itself, without what changes nothing about it; undefined if a variable in front of it may change it. */
  readonly inner: Coverable | undefined
  /** All of it, where that is more. */
  readonly outer: Coverable | undefined
  /** Whether it may run, write or set more than its program is known for, so that only a pattern without a wildcard covers it. */
  readonly exactOnly: boolean
  /** Whether its program runs the code or the file that its words name, so that a wildcard before other words stands for a file alone. */
  readonly runsWords: boolean
  /** Whether it is known to change nothing. */
  readonly looksOnly: boolean
}

/** A command, and how many letters of its `rest` a pattern must name by itself. */
export interface Coverable {
  readonly view: CommandView
  readonly reach: number
}

/** Where a process stands. */
export interface CommandContext {
  writable: readonly string[]
  project: string
}

type ProcessOperation = Extract<Operation, { kind: 'process' }>
type Names = Pick<CommandView, 'name' | 'paths'>

const shells = ['sh', 'bash', 'dash']
/** Programs that run the code or the file among their words. */
const interpreters =
  /^(?:\.|[gmn]?awk|ash|bash|bun|dash|dc|deno|eval|exec|expect|fish|guile|irb|k?sh|lua[\d.]*|luajit|mksh|node|nodejs|osascript|perl[\d.]*|php[\d.]*|pwsh|pypy[\d.]*|python[\d.]*|R|rbash|Rscript|ruby[\d.]*|source|tclsh[\d.]*|ts-node|tsx|wish|zsh)$/
const maxWrappers = 16

/**
 * The commands that an allow must cover, each of them, for the process to be allowed. Undefined if it may do more than that, or
 * where it is not sure what its words mean.
 */
export function findParts(operation: ProcessOperation, context: CommandContext): readonly Part[] | undefined {
  const { argv, cwd } = operation
  const stays = cwd === context.project
  // No person vouched for what lies in a folder that tools only read: many programs run what they find in their working directory.
  if (!stays && !context.writable.some((root) => isInside(cwd, root))) return undefined
  if (!isShell(operation, context)) {
    const command = { assigned: [], words: toKnownWords(argv), opensFile: false, input: undefined }
    const part = toPart(command, { own: namesOf(operation, context), nested: stays ? anyPath : absoluteOnly })
    return part === undefined ? undefined : [part]
  }
  const [, option, text] = argv
  if (argv.length !== 3 || option !== '-c' || text === undefined) return undefined
  const { commands, plain } = readCommandLine(text)
  if (!plain || commands.length === 0) return undefined
  const nested = stays && !commands.some(changesFolder) ? anyPath : absoluteOnly
  const parts = commands.map((command) => toPart(command, { own: undefined, nested }))
  return parts.every((part) => part !== undefined) ? parts : undefined
}

function isShell(operation: ProcessOperation, { writable }: CommandContext): boolean {
  return shells.some((name) => isProgram(name, operation, writable))
}

/** How the program of a process may be named: by its name alone only if no tool could have written it. */
function namesOf(operation: ProcessOperation, { writable, project }: CommandContext): Names {
  const { executable, argv, cwd } = operation
  const asked = argv[0] ?? ''
  const name = baseName(asked)
  const paths = [executable]
  const isFixed = asked.startsWith('/') ? !writable.some((root) => isInside(asked, root)) : cwd === project
  if (asked.includes('/') && asked !== executable && isFixed) paths.push(asked)
  return { name: isProgram(name, operation, writable) ? name : undefined, paths }
}

type Naming = (program: string) => Names

/** Names of programs that a shell or another program looks up. */
const anyPath: Naming = (program) =>
  program.includes('/') ? { name: undefined, paths: [program] } : { name: program, paths: [] }
/** The same where it is not known from which folder. */
const absoluteOnly: Naming = (program) =>
  program.includes('/') && !program.startsWith('/') ? { name: undefined, paths: [] } : anyPath(program)

function changesFolder({ words }: ShellCommand): boolean {
  return words.some(({ text }) => text === 'cd' || text === 'pushd' || text === 'popd')
}

/** `own` names the program of the process itself, `nested` those that it or a shell looks up. */
function toPart(command: ShellCommand, naming: { own: Names | undefined; nested: Naming }): Part | undefined {
  if (command.opensFile) return undefined
  let words = command.words
  let skipped = 0
  for (let layer = 0; layer < maxWrappers; layer++) {
    const [program] = words
    if (program === undefined || !isKnown(program)) return undefined
    const names = (skipped === 0 ? naming.own : undefined) ?? naming.nested(program.text)
    const wrapper = names.name === undefined ? undefined : findTransparent(words)
    if (wrapper === undefined) {
      const needed = wordsToName(words)
      const isMore = skipped + command.assigned.length > 0
      return {
        inner: areHarmless(command.assigned) ? toCoverable(words, names, needed) : undefined,
        outer: isMore ? toOuter(command, skipped + Math.max(needed, 1), naming.own) : undefined,
        exactOnly: needed === Infinity,
        runsWords: interpreters.test(baseName(program.text)),
        looksOnly: looksOnly(words),
      }
    }
    skipped += wrapper.skips
    words = wrapper.runs
  }
  return undefined
}

/** All of a command; a pattern must name so many of its words, and what is set in front of them. */
function toOuter(command: ShellCommand, named: number, own: Names | undefined): Coverable {
  const words = [...command.assigned, ...command.words]
  const first = words[0]?.text ?? ''
  return toCoverable(words, own ?? { name: first, paths: [first] }, command.assigned.length + named)
}

function toCoverable(words: readonly ShellWord[], names: Names, named: number): Coverable {
  const reach = named > 1 ? toView(words.slice(0, named), names).rest.length : 0
  return { view: toView(words, names), reach }
}
