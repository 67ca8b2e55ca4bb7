/** A word of a command, as far as it is known without running anything. */
export interface ShellWord {
  /** Its value, without quotes; what only a shell can know (a variable, a glob, a substitution) stands as it is written. */
  readonly text: string
  /** How many letters from the start of `text` are its value for sure; less than `text.length` where not all are. */
  readonly known: number
  /**
   * What it stands for: one word; several or none that all begin with what is known of it, as a glob does; or any words, as a
   * variable without quotes does.
   */
  readonly as: 'one' | 'alike' | 'any'
}

/** One simple command of a command line. */
export interface ShellCommand {
  /** The variables that are set in front of it, each as `NAME=value`. */
  readonly assigned: readonly ShellWord[]
  readonly words: readonly ShellWord[]
  /** Whether a redirection opens a file other than `/dev/null`. */
  readonly opensFile: boolean
  /** What it is given on standard input by a here-document or here-string, if by any. */
  readonly input: string | undefined
}

/** What a command line would run. */
export interface ShellReading {
  /** Every simple command in it, also those inside of substitutions and here-documents. */
  readonly commands: readonly ShellCommand[]
  /**
   * Whether these commands are all that happens: they are only joined by operators, grouped and nested. A loop, a condition, a
   * function or a file that a group is redirected to makes it false, and so does everything that makes `hidden` true.
   */
  readonly plain: boolean
  /** Whether it may run commands that are not among these, or could not be read to its end. */
  readonly hidden: boolean
}
