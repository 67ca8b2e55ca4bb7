import type { ParseArgsOptionsConfig } from 'node:util'
import { modes, roles } from '../contract/principal.ts'
import type { SessionOptions } from '../contract/runtime.ts'
import type { CommandLine } from './command.ts'
import { readChoice } from './read-choice.ts'
import { UsageError } from './usage-error.ts'

/** Options of every command that opens a session. */
export const callerOptions: ParseArgsOptionsConfig = {
  tenant: { type: 'string' },
  actor: { type: 'string' },
  role: { type: 'string' },
  mode: { type: 'string' },
}

/** How help shows them. */
export const callerUsage = '[--tenant T] [--actor A] [--role R] [--mode M]'

/** Who calls, as the options say; what is not said keeps the defaults of a session. */
export function readCaller(given: CommandLine): Pick<SessionOptions, 'tenant' | 'actor' | 'role' | 'mode'> {
  const tenant = readText(given, 'tenant')
  const actor = readText(given, 'actor')
  const role = readChoice(given, 'role', roles)
  const mode = readChoice(given, 'mode', modes)
  return {
    ...(tenant !== undefined && { tenant }),
    ...(actor !== undefined && { actor }),
    ...(role !== undefined && { role }),
    ...(mode !== undefined && { mode }),
  }
}

/** The value of an option that takes a text; undefined where it is not given. */
export function readText({ options }: CommandLine, name: string): string | undefined {
  const value = options[name]
  if (value === '') throw new UsageError(`--${name} needs a value.`)
  return typeof value === 'string' ? value : undefined
}
