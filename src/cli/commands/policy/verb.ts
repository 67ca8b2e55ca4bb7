import type { CommandLine } from '../../command.ts'

/** One verb of `handrail policy`: what follows it, and what it does. */
export interface PolicyVerb {
  usage: string
  /** Gives the exit code. `argument` is what follows the verb, undefined where nothing does. */
  run(given: CommandLine, argument: string | undefined): Promise<number>
}
