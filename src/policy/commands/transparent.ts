import { wordBreak } from '../../kit/shell/command-pattern.ts'
import type { ShellWord } from '../../kit/shell/reading.ts'
import { isKnown } from './command-view.ts'

/** What may stand between a wrapper and its command for the wrapper to change nothing about what the command does. */
const wrappers: ReadonlyMap<string, RegExp> = new Map([
  [
    'timeout',
    /^(?:(?:--foreground|--preserve-status|-v|--verbose|(?:-k|-s)\0?[\w.]+|--(?:kill-after|signal)=[\w.]+)\0)*\d+(?:\.\d+)?[smhd]?\0(?=[^-\0])/,
  ],
  ['time', /^(?:-p\0)?(?=[^-\0])/],
  ['nice', /^(?:(?:-n\0?-?\d+|-\d+|--adjustment=-?\d+)\0)?(?=[^-\0])/],
  ['nohup', /^(?=[^-\0])/],
  ['stdbuf', /^(?:-[ioe](?:L|\d+[KMG]?)\0)+(?=[^-\0])/],
  ['command', /^(?=[^-\0])/],
  ['builtin', /^(?=[^-\0])/],
  ['noglob', /^(?=[^-\0])/],
  [
    'xargs',
    /^(?:(?:-[0rtx]+|-[nPLs]\0?\d+|-d\0?[^\0]+|-I\0?[^\0-][^\0]*|--(?:null|no-run-if-empty|verbose|max-(?:args|procs|lines)=\d+))\0)*(?=[^-\0])/,
  ],
])

/** Variables that say how a program shows or counts, not what it does or loads. */
const harmlessVariables =
  /^(?:NODE_ENV|CI|TZ|LANG|LANGUAGE|LC_[A-Z]+|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|LS_COLORS|GREP_COLORS?|COLUMNS|LINES|TIME_STYLE|BLOCK_SIZE|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|GOOS|GOARCH|CGO_ENABLED|GO111MODULE)=/

/** Whether setting these variables leaves it to the command what is run. */
export function areHarmless(assigned: readonly ShellWord[]): boolean {
  return assigned.every(({ text }) => harmlessVariables.test(text))
}

/** A wrapper that changes nothing about the command that it runs. */
export interface Transparent {
  /** How many words stand before that command. */
  readonly skips: number
  /** The words of the command, with what the wrapper makes of them. */
  readonly runs: readonly ShellWord[]
}

/** An argument that the policy cannot see, which `xargs` adds. */
const unseen: ShellWord = { text: wordBreak, known: 0, as: 'any' }

/** The command that a wrapper runs. Undefined if it is none, or where that is not sure. */
export function findTransparent(words: readonly ShellWord[]): Transparent | undefined {
  const [program, ...args] = words
  const between = wrappers.get(program?.text ?? '')
  if (program === undefined || between === undefined) return undefined
  const unknown = args.findIndex((word) => !isKnown(word))
  const known = unknown < 0 ? args : args.slice(0, unknown)
  const skipped = between.exec(known.map(({ text }) => text + wordBreak).join(''))?.[0]
  if (skipped === undefined) return undefined
  const skips = skipped.split(wordBreak).length
  const runs = words.slice(skips)
  return { skips, runs: program.text === 'xargs' ? withUnseen(runs, skipped) : runs }
}

/** Where a text is replaced, nothing is added: each word with that text is known up to there. */
function withUnseen(runs: readonly ShellWord[], options: string): ShellWord[] {
  const replaced = /(?:^|\0)-I\0?([^\0]+)\0/.exec(options)?.[1]
  if (replaced === undefined) return [...runs, unseen]
  return runs.map((word) => {
    const at = word.text.indexOf(replaced)
    return at < 0 ? word : { ...word, known: Math.min(word.known, at) }
  })
}
