import type { SessionModel } from '../../contract/base/call.ts'
import { modes, roles } from '../../contract/base/principal.ts'
import type { SessionOptions } from '../../contract/runtime.ts'
import type { CommandLine, Options } from '../base/command.ts'
import { readChoice } from '../terminal/read-choice.ts'
import { UsageError } from '../base/usage-error.ts'

/** Whose tools, rules and records are meant. */
export const tenantOption: Options = { tenant: { takes: 'TENANT', about: 'Whose. Default: local.' } }

/** Which model a session is for. */
export const forModelOption: Options = {
  'for-model': {
    takes: 'MODEL',
    about: 'Leaves out tools that do not work with this model, such as openai/gpt-5.',
  },
}

/** Options of every command that opens a session. */
export const callerOptions: Options = {
  tenant: { takes: 'TENANT', about: 'Whose rules, tools and folders count. Default: local.' },
  actor: { takes: 'ACTOR', about: 'Who calls. Default: user.' },
  role: { takes: 'ROLE', about: `${roles.join(', ')}. Default: main.` },
  mode: { takes: 'MODE', about: `${modes.join(', ')}. Default: the mode of the policy.` },
  ...forModelOption,
}

/** Which names and fields of tools are meant. */
export const presentationOption: Options = {
  presentation: {
    takes: 'PRESENTATION',
    about:
      'Names and fields: canonical (of Handrail) or compatible (those that models know). Default: canonical.',
  },
}

/** For programs that read what a command prints. */
export const jsonOption: Options = { json: { about: 'Prints JSON.' } }

/** Who calls, as the options say; what is not said keeps the defaults of a session. */
export function readCaller(
  given: CommandLine,
): Pick<SessionOptions, 'tenant' | 'actor' | 'role' | 'mode' | 'model'> {
  const tenant = readText(given, 'tenant')
  const actor = readText(given, 'actor')
  const role = readChoice(given, 'role', roles)
  const mode = readChoice(given, 'mode', modes)
  const model = readForModel(given)
  return {
    ...(tenant !== undefined && { tenant }),
    ...(actor !== undefined && { actor }),
    ...(role !== undefined && { role }),
    ...(mode !== undefined && { mode }),
    ...(model !== undefined && { model }),
  }
}

/** The model that is meant; names of models may hold slashes. */
export function readForModel(given: CommandLine): SessionModel | undefined {
  const [provider = '', ...name] = readText(given, 'for-model')?.split('/') ?? []
  if (provider === '') return undefined
  return { provider, ...(name.length > 0 && { name: name.join('/') }) }
}

/** The value of an option that takes a text; undefined if it is not given. */
export function readText({ options }: CommandLine, name: string): string | undefined {
  const value = options[name]
  if (value === '') throw new UsageError(`--${name} needs a value.`)
  return typeof value === 'string' ? value : undefined
}
