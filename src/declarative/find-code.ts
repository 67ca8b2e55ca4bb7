/** One argument: its text, undefined for a value of the input; or an option with its value. */
export type Argument = string | undefined | readonly [option: string, value: string | undefined]

/** Where on its command line a program takes code, or the name of a program that it starts. */
interface Interpreter {
  readonly programs: RegExp
  /** Options whose value is code. */
  readonly option: RegExp
  readonly isShell?: boolean
  /** Which operand is code, counted from 0, unless an option has brought it. */
  readonly operand?: number
  /** Options that bring it. */
  readonly brought?: RegExp
  /** Options whose value is not an operand. */
  readonly valued?: RegExp
  /** Whether it starts the program that the operand names. */
  readonly starts?: boolean
}

const interpreters: readonly Interpreter[] = [
  {
    programs: /^(?:r?bash|sh|d?ash|posh|yash|[lmr]?ksh(?:93)?|zsh|t?csh|fish)$/,
    option: /^(?:-[A-Za-z]*c|--rcfile|--init-file|--command)$/,
    isShell: true,
  },
  // What they run is read by the shell of a user.
  { programs: /^(?:su|runuser|script)$/, option: /^(?:-[A-Za-z]*c|--(?:session-)?command)$/ },
  {
    programs: /^(?:node|nodejs|bun|deno)$/,
    option: /^(?:-[epr]|-pe|--eval|--print|--require|--import|--loader|--experimental-loader)$/,
  },
  { programs: /^(?:python|pypy)[0-9.]*$/, option: /^-[A-Za-z]*[cm]$/ },
  { programs: /^(?:perl|ruby|lua(?:jit)?)[0-9.]*(?:-[\w-]+)?$/, option: /^-[A-Za-z]*[eEr]$/ },
  { programs: /^php[0-9.]*$/, option: /^-[BrREd]$/ },
  {
    programs: /^(?:[gmn]|original-)?awk$/,
    option: /^(?:-[A-Za-z]*[efEil]|--(?:so|ex|fi|inc|lo)[a-z]*)$/,
    operand: 0,
    brought: /^(?:-[efE]|--(?:so|ex|fi))/,
    valued: /^(?:-[Fvil]|--(?:as|fie|inc|lo)[a-z-]*)$/,
  },
  {
    programs: /^g?sed$/,
    option: /^(?:-[A-Za-z]*[ef]|--(?:e|fi)[a-z]*)$/,
    operand: 0,
    brought: /^(?:-[nErsuz]*[ef]|--(?:e|fi))/,
    valued: /^(?:-l|--l[a-z-]*)$/,
  },
  { programs: /^(?:xargs|nice)$/, option: /^$/, operand: 0, starts: true, valued: /^-[nILPsdEa]$/ },
  {
    programs: /^(?:nohup|setsid|stdbuf|time|watch)$/,
    option: /^$/,
    operand: 0,
    starts: true,
    valued: /^-[iofn]$/,
  },
  {
    programs:
      /^(?:busybox|toybox|setpriv|prlimit|unshare|nsenter|ltrace|strace|fakeroot|unbuffer|eatmydata|numactl|parallel|entr|linux(?:32|64)|systemd-run|xvfb-run|dbus-run-session)$/,
    option: /^$/,
    operand: 0,
    starts: true,
    valued: /^-[eopsSun]$/,
  },
  { programs: /^(?:ionice|sshpass)$/, option: /^$/, operand: 0, starts: true, valued: /^-[cnpPufde]$/ },
  { programs: /^(?:sudo|doas)$/, option: /^$/, operand: 0, starts: true, valued: /^-[ugC]$/ },
  { programs: /^env$/, option: /^(?:-[A-Za-z0]*S|--s[a-z-]*)$/, operand: 0, starts: true, valued: /^-[uC]$/ },
  {
    programs: /^(?:timeout|flock|taskset|chroot|chrt|setarch)$/,
    option: /^$/,
    operand: 1,
    starts: true,
    valued: /^-[kswTPD]$/,
  },
]

/** An argument that is code to a program, or names the program that it starts. */
export interface Code {
  readonly index: number
  /** Whether it is read as a shell reads it. */
  readonly isShell: boolean
}

/** Which arguments of a program are code, to it or to the program that it starts. */
export function findCode(program: string, args: readonly Argument[]): Code[] {
  const known = findInterpreter(program)
  if (known === undefined) return []
  const operand = findOperand(args, known)
  const started = operand === undefined ? undefined : args[operand]
  const isCode = (argument: Argument, index: number) => {
    const option = typeof argument === 'object' ? argument[0] : args[index - 1]
    return (
      (index === operand && started === undefined) ||
      (typeof option === 'string' && known.option.test(option))
    )
  }
  const own = [...args.keys()].filter((index) => isCode(args[index], index))
  const found = own.map((index) => ({ index, isShell: known.isShell === true }))
  if (operand === undefined || typeof started !== 'string' || known.starts !== true) return found
  const inner = findCode(started, args.slice(operand + 1))
  return [...found, ...inner.map((code) => ({ ...code, index: code.index + operand + 1 }))]
}

/** Whether a shell takes for its script what stands on its standard input, which is the input of the call. */
export function readsInput(program: string, args: readonly Argument[]): boolean {
  if (findInterpreter(program)?.isShell !== true) return false
  const words = args.map((each) => (typeof each === 'object' ? each[0] : each))
  if (words.some((word) => word !== undefined && /^-[A-Za-z]*s[A-Za-z]*$/.test(word))) return true
  return words.every((word) => word?.startsWith('-') === true && !/^-[A-Za-z]*c$/.test(word))
}

function findInterpreter(program: string): Interpreter | undefined {
  const name = program.slice(program.lastIndexOf('/') + 1)
  return interpreters.find(({ programs }) => programs.test(name))
}

/** Where the operand is that a program takes for code, or for the program that it starts. */
function findOperand(args: readonly Argument[], known: Interpreter): number | undefined {
  const { operand, brought, valued, starts = false } = known
  if (operand === undefined) return undefined
  let before = ''
  let seen = 0
  for (const [index, argument] of args.entries()) {
    const [word, own] = typeof argument === 'object' ? [argument[0], false] : [argument, true]
    if (word !== undefined && brought?.test(word) === true) return undefined
    const isOption = word !== undefined && (word.startsWith('-') || (starts && word.includes('=')))
    const belongs = valued?.test(before) === true && !(starts && word === undefined)
    if (own && !isOption && !belongs && seen++ === operand) return index
    before = (own ? word : undefined) ?? ''
  }
  return undefined
}
