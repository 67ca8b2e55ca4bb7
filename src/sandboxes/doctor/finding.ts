/** What one trial on this machine found. */
export interface Finding {
  /** Stable, for programs. */
  readonly id: string
  readonly holds: boolean
  /** Whether what was configured asks for it. */
  readonly needed: boolean
  /** What was tried and seen, and what to do where it does not hold. */
  readonly detail: string
}
