/** An option, as help shows it. */
export interface Option {
  /** What it takes, such as `DIR`; absent for a switch. */
  readonly takes?: string
  readonly short?: string
  readonly about: string
}

/** The options of a command, by name. */
export type Options = Readonly<Record<string, Option>>

/** One command of the command line, or what follows one that groups several. */
export interface Command {
  /** What follows its name, options aside. */
  readonly usage: string
  /** One line. */
  readonly summary: string
  /** What else help says of it. */
  readonly more?: string
  readonly options: Options
  readonly examples?: readonly string[]
  /** What is said if its first argument is missing; without this, none is needed. */
  readonly needs?: string
  /** How many arguments there can be. */
  readonly takes: number
  /** Returns the exit code. */
  run(given: CommandLine): Promise<number>
}

/** A command whose first word says what to do. */
export interface CommandGroup {
  readonly summary: string
  readonly verbs: Readonly<Record<string, Command>>
  /** The verb that a name in the place of the word may be meant for. */
  readonly ofNames?: string
  /** The verb that is meant without a word. */
  readonly otherwise?: string
}

/** A parsed command line. */
export interface CommandLine {
  /** What follows the command, and its verb if it has one. */
  readonly positionals: readonly string[]
  readonly options: Readonly<Record<string, string | boolean | undefined>>
}
