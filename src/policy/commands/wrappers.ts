import { wordBreak } from '../../kit/shell/command-pattern.ts'
import type { ShellWord } from '../../kit/shell/reading.ts'
import { isKnown } from './command-view.ts'

/** A program that runs the command it is given as arguments. */
interface Wrapper {
  /** Its options that take the next word as their value: letters, and long names. */
  readonly letters: string
  readonly longs: readonly string[]
  /** Its other options. With one that is not among them, any word may begin the command. */
  readonly flags: string
  readonly longFlags: readonly string[]
  /** How many words stand before the command. */
  readonly operands: number
  /** With one of these it runs nothing. */
  readonly lookups: readonly string[]
  /** What it takes for a variable that it sets. */
  readonly variable: RegExp
}

type Spec = Partial<Omit<Wrapper, 'longs' | 'longFlags'>> & { longs?: string; longFlags?: string }

function wrapper({ longs = '', longFlags = '', ...more }: Spec = {}): Wrapper {
  return {
    letters: '',
    flags: '',
    operands: 0,
    lookups: [],
    variable: /^[A-Za-z_]\w*\+?=/,
    ...more,
    longs: longs.split(' ').filter(Boolean),
    longFlags: longFlags.split(' ').filter(Boolean),
  }
}

const wrappers: ReadonlyMap<string, Wrapper> = new Map([
  ['!', wrapper()],
  ['builtin', wrapper()],
  ['busybox', wrapper()],
  ['caffeinate', wrapper({ letters: 'tw', flags: 'dimsu' })],
  ['chroot', wrapper({ longs: 'groups userspec', longFlags: 'skip-chdir', operands: 1 })],
  [
    'chrt',
    wrapper({
      letters: 'TPD',
      flags: 'abdfimorRvp',
      longs: 'sched-runtime sched-period sched-deadline',
      longFlags: 'all-tasks batch deadline fifo idle max other pid reset-on-fork rr verbose',
      operands: 1,
    }),
  ],
  ['command', wrapper({ flags: 'p', lookups: ['-v', '-V'] })],
  ['coproc', wrapper()],
  ['doas', wrapper({ letters: 'uC', flags: 'Lns' })],
  [
    'env',
    wrapper({
      letters: 'uCS',
      flags: 'i0v',
      longs: 'unset chdir split-string',
      longFlags:
        'ignore-environment null block-signal default-signal ignore-signal list-signal-handling debug',
      variable: /=/,
    }),
  ],
  ['exec', wrapper({ letters: 'a', flags: 'cl' })],
  [
    'flock',
    wrapper({
      letters: 'wE',
      flags: 'eFnosux',
      longs: 'wait timeout conflict-exit-code',
      longFlags: 'close exclusive nb no-fork nonblock shared unlock verbose',
      operands: 1,
    }),
  ],
  ['ionice', wrapper({ letters: 'cnpPu', flags: 't', longs: 'class classdata', longFlags: 'ignore' })],
  ['ltrace', wrapper({ letters: 'aADeFlnopsuwxX', flags: 'bcCfhiLrStTV' })],
  ['nice', wrapper({ letters: 'n', flags: '0123456789', longs: 'adjustment' })],
  ['noglob', wrapper()],
  ['nocorrect', wrapper()],
  ['nohup', wrapper()],
  ['nsenter', wrapper({ letters: 'tSG', longs: 'target setuid setgid' })],
  ['parallel', wrapper({ letters: 'jnNLsSIa', longs: 'jobs max-args sshlogin arg-file' })],
  ['prlimit', wrapper({ letters: 'op', longs: 'output pid' })],
  ['runuser', wrapper({ letters: 'ugGcs', longs: 'user group supp-group command shell' })],
  [
    'setpriv',
    wrapper({
      longs:
        'ambient-caps bounding-set groups inh-caps pdeathsig regid rgid ruid egid euid reuid securebits selinux-label apparmor-profile',
      longFlags: 'clear-groups init-groups keep-groups no-new-privs nnp reset-env dump',
    }),
  ],
  ['setsid', wrapper({ flags: 'cfw', longFlags: 'ctty fork wait' })],
  ['stdbuf', wrapper({ letters: 'ioe', longs: 'input output error' })],
  ['strace', wrapper({ letters: 'abeEIopPsSuUX', flags: 'cCdDfFhiknNqrtTvVwxyYzZ' })],
  [
    'sudo',
    wrapper({
      letters: 'CDgGhpRrtTUu',
      flags: 'AbBEeHiKklnNPsSvV',
      longs: 'chdir chroot close-from command-timeout group host other-user prompt role type user',
      longFlags:
        'askpass background edit list login no-update non-interactive preserve-env preserve-groups reset-timestamp set-home shell stdin validate',
    }),
  ],
  [
    'systemd-run',
    wrapper({
      letters: 'pMHEut',
      longs:
        'property unit uid gid setenv working-directory slice service-type description machine host nice',
    }),
  ],
  ['taskset', wrapper({ flags: 'acp', longFlags: 'all-tasks cpu-list pid', operands: 1 })],
  [
    'time',
    wrapper({
      letters: 'fo',
      flags: 'aqpv',
      longs: 'format output',
      longFlags: 'append portability quiet verbose',
    }),
  ],
  [
    'timeout',
    wrapper({
      letters: 'ks',
      flags: 'v',
      longs: 'kill-after signal',
      longFlags: 'foreground preserve-status verbose',
      operands: 1,
    }),
  ],
  ['toybox', wrapper()],
  ['unbuffer', wrapper({ flags: 'p' })],
  ['unshare', wrapper({ letters: 'RwSG', longs: 'root wd setuid setgid' })],
  [
    'xargs',
    wrapper({
      letters: 'adEILnPs',
      flags: '0eilortpx',
      longs: 'arg-file delimiter max-args max-procs max-chars process-slot-var',
      longFlags: 'eof exit interactive max-lines no-run-if-empty null open-tty replace show-limits verbose',
    }),
  ],
])

/** Programs that run a command among their arguments, of whose options nothing is known here: any word may begin it. */
const loose = new Set(
  `capsh catchsegv cgexec choom chpst chronic cpulimit daemon daemonize dbus-launch dbus-run-session dumb-init eatmydata entr
  envdir envuidgid fakechroot fakeroot faketime firejail bwrap gdb gosu heaptrack hyperfine i386 i486 i586 i686 ifne linux32 linux64 numactl
  perf pgrphack pkexec proot proxychains proxychains4 reptyr rlwrap rr runcon schroot setarch setlock setuidgid softlimit
  start-stop-daemon su-exec systemd-inhibit tini torify torsocks trickle tsocks uname26 valgrind watchexec x86_64 xvfb-run`.split(
    /\s+/,
  ),
)
/** The loader of programs. */
const loader = /^ld(?:-linux|-musl|\d*)[\w.-]*\.so[\d.]*$/

/** The command that another one runs. */
export interface Unwrapped {
  /** As far as one can tell. */
  readonly words: readonly ShellWord[]
  /** Whether every word before it is known. */
  readonly sure: boolean
  /** Whether it may as well begin at any other word. */
  readonly loose: boolean
}

/** Whether a program is known to run its arguments, with options that are known. */
export function isWrapper(program: string): boolean {
  return wrappers.has(program)
}

/** The command that this one runs, where its program is known to run its arguments. Options are skipped with their values, variables too. */
export function unwrap(program: string, words: readonly ShellWord[]): Unwrapped | undefined {
  const isLoose = loose.has(program) || loader.test(program)
  const known = wrappers.get(program) ?? (isLoose ? wrapper() : jobOf(program, words))
  if (known === undefined) return undefined
  let at = 1
  let isExact = !isLoose
  let operands = known.operands
  for (; at < words.length; at++) {
    const text = words[at]?.text ?? ''
    if (known.lookups.includes(text)) return undefined
    if (text === '--') {
      isExact &&= operands === 0
    } else if (/^[-+]./.test(text) || text === '-') {
      isExact &&= isKnownOption(known, text)
      at += takesNext(known, text) ? 1 : 0
    } else if (known.variable.test(text)) continue
    else if (operands-- <= 0) break
  }
  const command = withUnseen(program, words.slice(0, at), words.slice(at))
  return { words: command, sure: words.slice(0, at).every(isKnown), loose: !isExact }
}

/** `jobs -x` runs a command, `jobs` none. */
function jobOf(program: string, words: readonly ShellWord[]): Wrapper | undefined {
  return program === 'jobs' && words[1]?.text === '-x' ? wrapper({ flags: 'x' }) : undefined
}

/** Long names may be cut short. */
function takesNext({ letters, longs, longFlags }: Wrapper, option: string): boolean {
  if (option.startsWith('--')) {
    const name = option.slice(2)
    return !name.includes('=') && !longFlags.includes(name) && longs.some((each) => each.startsWith(name))
  }
  const valued = Array.from(option.slice(1)).findIndex((letter) => letters.includes(letter))
  return valued >= 0 && valued === option.length - 2
}

function isKnownOption({ letters, longs, flags, longFlags }: Wrapper, option: string): boolean {
  if (option === '-') return true
  if (option.startsWith('--')) return [...longs, ...longFlags].includes(option.slice(2).replace(/=[^]*/, ''))
  for (const letter of option.slice(1)) {
    if (letters.includes(letter)) return true
    if (!flags.includes(letter)) return false
  }
  return true
}

/** An argument that the policy cannot see. */
const unseen: ShellWord = { text: wordBreak, known: 0, as: 'any' }

/** What `xargs` and `parallel` make of the words of their command: arguments behind them, or in the place of a text. */
function withUnseen(
  program: string,
  before: readonly ShellWord[],
  command: readonly ShellWord[],
): readonly ShellWord[] {
  if ((program !== 'xargs' && program !== 'parallel') || command.length === 0) return command
  const replaced = replacedBy(before) ?? (program === 'parallel' ? '{' : undefined)
  return [...(replaced === undefined ? command : knownUpTo(command, replaced)), unseen]
}

/** The text that is replaced: the value of `-I`, or `{}` with `-i` and `--replace`. */
function replacedBy(before: readonly ShellWord[]): string | undefined {
  for (const [at, { text }] of before.entries()) {
    const [, value] = /^-[0rtx]*I([^]*)$/.exec(text) ?? []
    if (value !== undefined) return value === '' ? before[at + 1]?.text : value
    const [, open] = /^(?:-[0rtx]*i|--r[a-z]*(?:=|$))([^]*)$/.exec(text) ?? []
    if (open !== undefined && !text.startsWith('--no')) return open === '' ? '{}' : open
  }
  return undefined
}

/** Words in which a text stands for what the policy cannot see. */
export function knownUpTo(words: readonly ShellWord[], replaced: string): ShellWord[] {
  return words.map((word) => {
    const at = replaced === '' ? -1 : word.text.indexOf(replaced)
    return at < 0 ? word : { ...word, known: Math.min(word.known, at) }
  })
}
