/** What the tools of one session keep from one call to the next. */
export interface ResourcePool {
  /** What stands there under a key; `open` makes it. Fails if the session is over. */
  keep(key: string, open: (place: PoolSlot) => unknown): unknown
  /** Tells all to end, and resolves when what they ran is gone. */
  close(): Promise<void>
}

/** A place on the shelf. */
export interface PoolSlot {
  /** Aborted when it has to be left. */
  readonly signal: AbortSignal
  /** Lets the shelf wait for this work when it closes. */
  readonly track: <Result>(work: Promise<Result>) => Promise<Result>
}
