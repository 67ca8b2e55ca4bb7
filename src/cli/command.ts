import type { ParseArgsOptionsConfig } from 'node:util'

/** One command of the command line. */
export interface Command {
  /** What follows the command's name, as help shows it. */
  usage: string
  summary: string
  options: ParseArgsOptionsConfig
  /** How many positional arguments there can be. */
  takes: number
  /** Gives the exit code. */
  run(given: CommandLine): Promise<number>
}

/** A parsed command line. */
export interface CommandLine {
  positionals: readonly string[]
  options: Readonly<Record<string, string | boolean | undefined>>
}
