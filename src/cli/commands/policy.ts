import type { Command, CommandLine } from '../command.ts'
import { UsageError } from '../usage-error.ts'

/** One verb of `handrail policy`: what follows it, and what it does. */
export interface PolicyVerb {
  usage: string
  /** Gives the exit code. `argument` is what follows the verb, undefined where nothing does. */
  run(given: CommandLine, argument: string | undefined): Promise<number>
}

/** Each verb is loaded only when it is asked for. */
const verbs: Readonly<Record<string, () => Promise<PolicyVerb>>> = {
  import: async () => (await import('./policy/import.ts')).importVerb,
}

/** `handrail policy` */
export const policy: Command = {
  usage: 'import <settings.json> [--write]',
  summary: 'Takes over permission rules that were written for another agent.',
  options: { write: { type: 'boolean' } },
  takes: 2,
  async run(given) {
    const [name, argument] = given.positionals
    const load = name === undefined || !Object.hasOwn(verbs, name) ? undefined : verbs[name]
    if (load === undefined)
      throw new UsageError(
        `${name === undefined ? 'Say what to do' : `There is no "policy ${name}"`}.\nUsage: handrail policy ${policy.usage}`,
      )
    return (await load()).run(given, argument)
  },
}
