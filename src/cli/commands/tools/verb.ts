import type { CommandLine } from '../../command.ts'

/** One verb of `handrail tools`. */
export interface ToolsVerb {
  /** Options that it takes, beside those of every command. */
  readonly options: readonly string[]
  /** How many words may follow it. Default 1. */
  readonly takes?: number
  /** Gives the exit code. `name` is what follows the verb, undefined where nothing does. */
  run(given: CommandLine, name: string | undefined): Promise<number>
}
