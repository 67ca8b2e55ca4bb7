/** A deferred tool that a search found. */
export interface ToolMatch {
  /** Canonical name. */
  readonly tool: string
  readonly title: string
  readonly description: string
  /** Names of its parameters. */
  readonly parameters: readonly { readonly name: string; readonly required: boolean }[]
  /** Whether models were shown it before this search. */
  readonly known: boolean
}

/** What a search for tools found. */
export interface ToolMatches {
  readonly matches: readonly ToolMatch[]
  /** Of what was asked for by name: what the session has no such tool for, or may not use. */
  readonly missing: readonly string[]
  /** Tools that were found and are not shown, as the session is shown as many as it can be. */
  readonly left: number
  /** How many searches in a row, this one with them, showed nothing new. */
  readonly fruitless: number
}

/** The deferred tools of the session of a call. */
export interface ToolSearch {
  /**
   * Finds tools that the session may use, by words or by their names, and shows them to its models from the next turn on. Rejects if the store does not
   * take that.
   */
  find(wanted: { words: string } | { names: readonly string[] }, most: number): Promise<ToolMatches>
}
