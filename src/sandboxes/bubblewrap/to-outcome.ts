import { constants } from 'node:os'
import type { CommandNetwork, CommandOutcome } from '../../contract/services/sandbox.ts'

/** Signals that end a program by force or for a fault of its own. Others may be an exit code that the program chose. */
const fatal = [
  'SIGILL',
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGKILL',
  'SIGSEGV',
  'SIGTERM',
  'SIGXCPU',
  'SIGXFSZ',
  'SIGSYS',
] as const

const signalByCode = new Map<number | null, string>(
  fatal.map((name) => [128 + constants.signals[name], name]),
)

/** What was found out about a command besides its end. */
interface Found {
  readonly aside: readonly string[]
  readonly withheld: readonly string[]
  readonly replaced: readonly string[]
  readonly emptied: readonly string[]
  readonly network: CommandNetwork | undefined
}

/** What bwrap tells of a command, in the terms of the command: a code over 128 stands for the signal that ended it. */
export function toOutcome(
  outcome: CommandOutcome,
  { aside, withheld, replaced, emptied, network }: Found,
): CommandOutcome {
  const signal = outcome.ended === 'exit' ? signalByCode.get(outcome.exitCode) : 'SIGKILL'
  return {
    ...outcome,
    ...(signal !== undefined && { exitCode: null, signal }),
    ...(aside.length > 0 && { setAside: aside }),
    ...(withheld.length > 0 && { withheld }),
    ...(replaced.length > 0 && { replaced }),
    ...(emptied.length > 0 && { emptied }),
    ...(network !== undefined && { network }),
  }
}
