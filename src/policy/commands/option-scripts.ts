import type { ShellWord } from '../../kit/shell/reading.ts'
import { isKnown } from './command-view.ts'

/** A text that a command runs as a command line. */
export interface Script {
  readonly text: string
  /** Whether all of it is known. */
  readonly known: boolean
}

/** An option whose value is a command, or, with a lead, only a value that begins with that: what follows it is the command. */
interface Option {
  /** One letter, or two that stand together. Empty: none. */
  readonly letter: string
  /** May be cut short. Empty: none. */
  readonly long: string
  readonly lead?: RegExp
}

/** Written as `-x`, `--long` and `-x --long`. */
function options(...written: readonly (string | readonly [string, RegExp])[]): readonly Option[] {
  return written.map((each) => {
    const [names, lead] = typeof each === 'string' ? [each] : each
    const [, letter = '', long = ''] = /^(?:-(\w+))? ?(?:--([\w-]+))?$/.exec(names) ?? []
    return { letter, long, ...(lead !== undefined && { lead }) }
  })
}

const ofSsh = /^\s*(?:knownhosts|local|proxy)command(?:\s*=\s*|\s+)/i

/** Programs that run the value of an option. */
const withScript: ReadonlyMap<string, readonly Option[]> = new Map([
  ['compgen', options('-C', '-W')],
  ['complete', options('-C')],
  ['cpio', options('--rsh-command')],
  ['flock', options('-c --command')],
  ['git', options('--exec', '--extcmd', '--receive-pack', '--upload-pack')],
  ['hash', options('-p')],
  ['man', options('-P --pager')],
  ['mapfile', options('-C')],
  ['nc', options('-c', '-e')],
  ['ncat', options('-c --sh-exec', '-e --exec')],
  ['npm', options('-c --call')],
  ['npx', options('-c --call')],
  ['readarray', options('-C')],
  ['rsync', options('-e --rsh')],
  ['runuser', options('-c --command')],
  ['scp', options(['-o', ofSsh], '-S')],
  ['script', options('-c --command')],
  ['sftp', options(['-o', ofSsh], '-S')],
  ['sg', options('-c --command')],
  ['sort', options('--compress-program')],
  ['split', options('--filter')],
  ['ssh', options(['-o', ofSsh])],
  ['strace', options(['-o --output', /^[|!]/])],
  ['su', options('-c --command')],
  [
    'tar',
    options(
      '-F --info-script',
      '-I --use-compress-program',
      ['--checkpoint-action', /^exec=/],
      '--new-volume-script',
      '--rmt-command',
      '--rsh-command',
      '--to-command',
    ),
  ],
  ['tcpdump', options('-z')],
  ['zip', options('-TT --unzip-command')],
])

/** In other subcommands of `git`, the letter has no value. */
const ofRebase = options('-x')

/** The values of options that a program runs. */
export function optionScripts(program: string, args: readonly ShellWord[]): Script[] {
  const words = program === 'tar' ? withDashes(args) : args
  const isRun = program === 'git' && args.some(({ text }) => text === 'rebase' || text === 'difftool')
  return [...(withScript.get(program) ?? []), ...(isRun ? ofRebase : [])].flatMap((option) =>
    optionValues(words, option).flatMap(({ value }) => toCommand(value, option)),
  )
}

export function toScript(word: ShellWord): Script {
  return { text: word.text, known: isKnown(word) }
}

function toCommand(value: ShellWord, { lead }: Option): Script[] {
  if (lead === undefined) return [toScript(value)]
  const [found] = lead.exec(value.text) ?? []
  if (found !== undefined) return [toScript(tail(value, value.text.slice(found.length)))]
  const known = value.text.slice(0, value.known)
  return isKnown(value) || /[=\s]/.test(known) ? [] : [{ text: '', known: false }]
}

/** Letters of `tar` that have a value. */
const valuedByTar = 'bCfFgHIKLNTVX'

/** The first word of `tar` may be letters without a dash, whose values are the next words in their order. */
function withDashes(words: readonly ShellWord[]): readonly ShellWord[] {
  const [first, ...rest] = words
  if (first === undefined || first.text.startsWith('-')) return words
  const letters = Array.from(first.text).filter((letter) => valuedByTar.includes(letter))
  const values = rest.slice(0, letters.length)
  return [
    ...values.flatMap((value, index): ShellWord[] => [
      { text: `-${letters[index] ?? ''}`, known: 2, as: 'one' },
      value,
    ]),
    ...rest.slice(letters.length),
  ]
}

/** The values of an option: behind it in the same word, or the next word; and what follows. */
export function optionValues(
  words: readonly ShellWord[],
  option: Pick<Option, 'letter' | 'long'>,
): { value: ShellWord; rest: readonly ShellWord[] }[] {
  return words.flatMap((word, at) => {
    const inline = inlineValue(word, option)
    if (inline === undefined) return []
    if (inline.text !== '') return [{ value: inline, rest: words.slice(at + 1) }]
    const value = words[at + 1]
    return value === undefined ? [] : [{ value, rest: words.slice(at + 2) }]
  })
}

/** Empty if the value is the next word; undefined if this is not the option. */
function inlineValue(
  word: ShellWord,
  { letter, long }: Pick<Option, 'letter' | 'long'>,
): ShellWord | undefined {
  const { text } = word
  const [, name, value = ''] = /^--([^=]+)(?:=([^]*))?$/.exec(text) ?? []
  if (name !== undefined) return long.startsWith(name) ? tail(word, value) : undefined
  const at = letter === '' || !/^-[^-]/.test(text) ? -1 : text.indexOf(letter)
  return at < 1 ? undefined : tail(word, text.slice(at + letter.length))
}

function tail({ text, known, as }: ShellWord, value: string): ShellWord {
  return { text: value, known: Math.max(0, known - (text.length - value.length)), as }
}
