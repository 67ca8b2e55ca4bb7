import type { Commands } from './sandbox.ts'

/**
 * What tools keep for a session from one call to the next, such as a language server and the connection to it. No other session sees it,
 * and it ends with the session.
 */
export interface SessionResources {
  /**
   * What this tool keeps under a name; `open` makes it where there is nothing. Programs that it runs with the commands it is given go on
   * over calls, bound to the profile of the call that opened it; a call with another profile, or from which more is hidden, has things of
   * its own. Where too much is kept, the oldest is told to end. Fails with `QUOTA.BUDGET_EXCEEDED` where a budget would not see what
   * they spend, and with `TOOL.ABORTED` where the session is over.
   */
  getOrOpen<Opened>(name: string, open: (context: SessionResourceContext) => Opened): Opened
}

/** What a session resource stands on. */
export interface SessionResourceContext {
  readonly commands: Commands
  /** Aborted when it has to end: programs end with it. */
  readonly signal: AbortSignal
}
