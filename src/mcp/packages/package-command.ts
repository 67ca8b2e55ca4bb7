/** A command line that fetches a package and runs a program of it. */
export interface PackageCommand {
  /** What fetches it: `npm` what is on a registry of npm, `uv` what is on an index of Python. */
  readonly kind: 'npm' | 'uv'
  /** The packages, as their registry takes them, the one that the program is of first. */
  readonly specs: readonly string[]
  /** The name of the program; undefined if it is the one that goes by the name of its package. */
  readonly program: string | undefined
  readonly args: readonly string[]
  /** The version of Python that is asked for. */
  readonly python: string | undefined
}
