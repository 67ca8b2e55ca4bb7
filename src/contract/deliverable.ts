/** A file that a session was to deliver, and what became of it. */
export interface Deliverable {
  /** Relative to the project, below `deliverables/`. */
  readonly path: string
  /**
   * `stale`: the file was there before the session was opened, and nothing was written to it since. `blocked`: what is there is not a file
   * of that folder, such as a link that leads out of it. Neither is taken.
   */
  readonly status: 'delivered' | 'missing' | 'stale' | 'blocked'
  /** Why it was blocked. */
  readonly reason?: string
  readonly bytes?: number
  /** `sha256:` and 64 hex digits; known once the session is closed, when the file is an artifact. */
  readonly digest?: string
}
