/** What could not become what it was before, since another program changed it. */
export interface NotTakenBack {
  readonly path: string
  /** Where the content of before is now; undefined if there was none. */
  readonly kept: string | undefined
  /** Why it could not be moved at all: then the stage still has it. */
  readonly error?: unknown
}
