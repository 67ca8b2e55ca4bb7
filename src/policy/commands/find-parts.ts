import type { Operation } from '../../contract/plan.ts'
import { isInside } from '../../kit/is-inside.ts'
import { wordBreak } from '../../kit/shell/command-pattern.ts'
import { readCommandLine } from '../../kit/shell/read-command-line.ts'
import type { ShellCommand, ShellWord } from '../../kit/shell/reading.ts'
import { isProgram } from '../match-program.ts'
import { baseName, isKnown, toKnownWords, toView, type CommandView } from './command-view.ts'
import { reachesFurther } from './reaching-options.ts'
import { areHarmless, findTransparent } from './transparent.ts'

/** One command that an allow must cover. */
export interface Part {
  /** The command itself, without what changes nothing about it; undefined where a variable in front of it may change it. */
  readonly inner: CommandView | undefined
  /** All of it, where that is more, and how many letters of its `rest` reach to the end of the inner program. */
  readonly outer: { readonly view: CommandView; readonly reach: number } | undefined
  /** Whether it may run or remove anything, so that only a pattern without a wildcard covers it. */
  readonly exactOnly: boolean
}

/** Where a process stands. */
export interface Ground {
  writable: readonly string[]
  project: string
}

type ProcessOperation = Extract<Operation, { kind: 'process' }>
type Names = Pick<CommandView, 'name' | 'paths'>

const shells = ['sh', 'bash', 'dash']
const maxWrappers = 16
/** An argument that nobody sees, such as those that `xargs` adds. */
const unseen: ShellWord = { text: wordBreak, known: 0 }

/**
 * The commands that an allow must cover, each of them, for the process to be allowed. Undefined where it may do more than that, or
 * where it is not sure what its words mean.
 */
export function findParts(operation: ProcessOperation, ground: Ground): readonly Part[] | undefined {
  const { argv, cwd } = operation
  const stays = cwd === ground.project
  // What lies in a folder that tools only read, nobody vouched for: many programs run what they find in theirs.
  if (!stays && !ground.writable.some((root) => isInside(cwd, root))) return undefined
  if (!isShell(operation, ground)) {
    const command = { assigned: [], words: toKnownWords(argv), opensFile: false, input: undefined }
    const part = toPart(command, { own: namesOf(operation, ground), nested: stays ? anyPath : absoluteOnly })
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

function isShell(operation: ProcessOperation, { writable }: Ground): boolean {
  return shells.some((name) => isProgram(name, operation, writable))
}

/** How the program of a process may be named: by its name alone only where no tool could have written it. */
function namesOf(operation: ProcessOperation, { writable, project }: Ground): Names {
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
  let skipped = 0
  let adds = false
  for (let layer = 0; layer < maxWrappers; layer++) {
    const words = command.words.slice(skipped)
    const [program] = words
    if (program === undefined || !isKnown(program)) return undefined
    const names = (skipped === 0 ? naming.own : undefined) ?? naming.nested(program.text)
    const wrapper = names.name === undefined ? undefined : findTransparent(words)
    if (wrapper === undefined) {
      const inner = toView(adds ? [...words, unseen] : words, names)
      return {
        inner: areHarmless(command.assigned) ? inner : undefined,
        outer: skipped + command.assigned.length === 0 ? undefined : toOuter(command, skipped, naming.own),
        exactOnly: reachesFurther(words),
      }
    }
    skipped += wrapper.skips
    adds ||= wrapper.adds
  }
  return undefined
}

function toOuter(command: ShellCommand, skipped: number, own: Names | undefined): Part['outer'] {
  const words = [...command.assigned, ...command.words]
  const first = words[0]?.text ?? ''
  const names = own ?? { name: first, paths: [first] }
  const upTo = words.slice(0, command.assigned.length + skipped + 1)
  return { view: toView(words, names), reach: toView(upTo, names).rest.length }
}
