/** A file that a session was to deliver, and what became of it. */
export interface Deliverable {
  /** Relative to the project, below `deliverables/`. */
  readonly path: string
  /** `blocked`: what is there is no file of that folder, such as a link that leads out of it. It is not taken. */
  readonly status: 'delivered' | 'missing' | 'blocked'
  /** Why it was blocked. */
  readonly reason?: string
  readonly bytes?: number
  /** `sha256:` and 64 hex digits; known once the session is closed, when the file is an artifact. */
  readonly digest?: string
}
