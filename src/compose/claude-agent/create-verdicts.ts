import type { Verdict } from '../agents/native-agent.ts'

/** What was said of a call before it runs, by the agent's id of the call. */
export interface GivenVerdict extends Verdict {
  /** Records that the call does not run after all; of one that waits, that the run of the agent ends here. */
  drop(): Promise<void>
}

/** What was said of calls that may still come to `canUseTool`. */
export interface Verdicts {
  keep(id: string, verdict: GivenVerdict): void
  find(id: string): GivenVerdict | undefined
  forget(id: string): void
}

/** So many are kept: the agent runs a few calls at a time, and tells the end of most. */
const mostKept = 1_000

/** No verdicts. */
export function createVerdicts(): Verdicts {
  const kept = new Map<string, GivenVerdict>()
  return {
    keep(id, verdict) {
      kept.set(id, verdict)
      const [oldest] = kept.keys()
      if (kept.size > mostKept && oldest !== undefined) kept.delete(oldest)
    },
    find: (id) => kept.get(id),
    forget: (id) => void kept.delete(id),
  }
}
