import { readCommandLine } from '../../kit/shell/read-command-line.ts'

/**
 * The arguments of the program that makes a sandbox, behind which stands what runs inside.
 *
 * Takes the sandbox out of the command line that the library wrote around the command `inside`. The library means it for a shell, which
 * would look for programs and read variables outside of the sandbox; as a list of arguments no shell sees it, nor what is put behind
 * it. Undefined if the line has another form than those that are known.
 */
export function toFrame(line: string, inside: string): readonly string[] | undefined {
  const words = wordsOf(line)
  return words && (ofSeatbelt(words, inside) ?? ofBubblewrap(words, inside))
}

/** `env NAME=VALUE… /usr/bin/sandbox-exec -p PROFILE SHELL -c COMMAND` */
function ofSeatbelt(words: readonly string[], inside: string): readonly string[] | undefined {
  const at = words.indexOf('/usr/bin/sandbox-exec')
  const [first, ...variables] = words.slice(0, Math.max(at, 0))
  const [option, profile, ...command] = words.slice(at + 1)
  const plain = first === 'env' && variables.every((word) => /^\w+=/.test(word))
  if (!plain || option !== '-p' || profile === undefined || !runs(command, inside)) return undefined
  return [option, profile]
}

/** `bwrap ARGUMENT… -- SHELL -c COMMAND`, where a program that filters system calls may stand before the command. */
function ofBubblewrap(words: readonly string[], inside: string): readonly string[] | undefined {
  const [executable, ...rest] = words
  const command = rest.slice(-3)
  const sandbox = rest.slice(0, -4)
  if (executable !== 'bwrap' || rest.at(-4) !== '--') return undefined
  if (runs(command, inside)) return [...sandbox, '--']
  const { assigned = [], words: filtered = [] } = commandOf(command[2] ?? '') ?? {}
  const [filter, ...filters] = filtered
  if (command[1] !== '-c' || filter === undefined || !runs(filters, inside)) return undefined
  const variables = assigned.flatMap((word) => ['--setenv', ...splitOnce(word)])
  return [...sandbox, ...variables, '--', filter]
}

/** Whether this is a shell that runs the command. */
function runs([shell, option, command, ...more]: readonly string[], inside: string): boolean {
  return shell?.startsWith('/') === true && option === '-c' && command === inside && more.length === 0
}

function wordsOf(line: string): readonly string[] | undefined {
  const command = commandOf(line)
  return command?.assigned.length === 0 ? command.words : undefined
}

/** The one simple command that a line consists of. */
function commandOf(line: string): { assigned: string[]; words: string[] } | undefined {
  const { commands, plain, hidden } = readCommandLine(line)
  const [command] = commands
  if (command === undefined || commands.length !== 1 || !plain || hidden || command.opensFile)
    return undefined
  const all = [...command.assigned, ...command.words]
  if (all.some(({ text, known }) => known !== text.length)) return undefined
  return { assigned: command.assigned.map(({ text }) => text), words: command.words.map(({ text }) => text) }
}

function splitOnce(assignment: string): [name: string, value: string] {
  const at = assignment.indexOf('=')
  return [assignment.slice(0, at), assignment.slice(at + 1)]
}
