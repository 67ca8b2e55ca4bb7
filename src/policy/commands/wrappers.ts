import type { ShellWord } from '../../kit/shell/reading.ts'
import { isKnown } from './command-view.ts'

/** A program that runs the command it is given as arguments. */
interface Wrapper {
  /** Its options that take the next word as their value: letters, and long names. */
  readonly letters: string
  readonly longs: readonly string[]
  /** How many words stand before the command. */
  readonly operands: number
  /** With one of these it runs nothing. */
  readonly lookups: readonly string[]
}

function wrapper(letters = '', longs: readonly string[] = [], more: Partial<Wrapper> = {}): Wrapper {
  return { letters, longs: longs.map((name) => `--${name}`), operands: 0, lookups: [], ...more }
}

const wrappers: ReadonlyMap<string, Wrapper> = new Map([
  ['!', wrapper()],
  ['builtin', wrapper()],
  ['busybox', wrapper()],
  ['caffeinate', wrapper('tw')],
  ['chroot', wrapper('', ['groups', 'userspec'], { operands: 1 })],
  ['chrt', wrapper('TPD', [], { operands: 1 })],
  ['command', wrapper('', [], { lookups: ['-v', '-V'] })],
  ['coproc', wrapper()],
  ['doas', wrapper('uC')],
  ['env', wrapper('uCS', ['unset', 'chdir', 'split-string'])],
  ['exec', wrapper('a')],
  ['flock', wrapper('wE', ['wait', 'timeout', 'conflict-exit-code'], { operands: 1 })],
  ['ionice', wrapper('cnpPu', ['class', 'classdata'])],
  ['ltrace', wrapper('eopu')],
  ['nice', wrapper('n', ['adjustment'])],
  ['noglob', wrapper()],
  ['nocorrect', wrapper()],
  ['nohup', wrapper()],
  ['nsenter', wrapper('tSG', ['target'])],
  ['parallel', wrapper('jnNLsSIa', ['jobs', 'max-args', 'sshlogin', 'arg-file'])],
  ['prlimit', wrapper()],
  ['runuser', wrapper('ugGcs', ['user', 'group', 'command'])],
  ['setpriv', wrapper()],
  ['setsid', wrapper()],
  ['stdbuf', wrapper('ioe', ['input', 'output', 'error'])],
  ['strace', wrapper('abeEIopPsSuUX')],
  ['sudo', wrapper('CDgGhpRrtTUu', ['chdir', 'chroot', 'group', 'host', 'prompt', 'role', 'type', 'user'])],
  ['systemd-run', wrapper('pMHEut', ['property', 'unit', 'uid', 'gid', 'setenv', 'working-directory'])],
  ['taskset', wrapper('', [], { operands: 1 })],
  ['time', wrapper('fo', ['format', 'output'])],
  ['timeout', wrapper('ks', ['kill-after', 'signal'], { operands: 1 })],
  ['toybox', wrapper()],
  ['unbuffer', wrapper()],
  ['unshare', wrapper('RwSG', ['root', 'wd', 'setuid', 'setgid'])],
  [
    'xargs',
    wrapper('adEILnPs', [
      'arg-file',
      'delimiter',
      'max-lines',
      'max-args',
      'max-procs',
      'max-chars',
      'replace',
    ]),
  ],
])

/**
 * The command that this one runs, where its program is known to run its arguments; `sure` is false where a word before the
 * command is not known. Options are skipped with their values, assignments too.
 */
export function unwrap(
  program: string,
  words: readonly ShellWord[],
): { words: readonly ShellWord[]; sure: boolean } | undefined {
  const known = wrappers.get(program)
  if (known === undefined) return undefined
  let at = 1
  let operands = known.operands
  for (; at < words.length; at++) {
    const text = words[at]?.text ?? ''
    if (known.lookups.includes(text)) return undefined
    if (/^[-+]./.test(text) || text === '-') at += takesNext(known, text) ? 1 : 0
    else if (/^[A-Za-z_]\w*\+?=/.test(text)) continue
    else if (operands-- <= 0) break
  }
  return { words: words.slice(at), sure: words.slice(0, at).every(isKnown) }
}

function takesNext({ letters, longs }: Wrapper, option: string): boolean {
  if (option.startsWith('--')) return longs.includes(option)
  const valued = Array.from(option.slice(1)).findIndex((letter) => letters.includes(letter))
  return valued >= 0 && valued === option.length - 2
}
