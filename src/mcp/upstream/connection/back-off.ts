/** When to try again what failed. */
export interface BackOff {
  /** How long to wait from now on, in milliseconds; 0 where nothing failed. */
  waitMs(): number
  failed(): void
  succeeded(): void
}

const firstMs = 1_000
const longestMs = 60_000

/** Twice as long after each failure, less a part of it that chance decides, so that not all come back at once. */
export function createBackOff(now: () => number = () => performance.now(), chance = Math.random): BackOff {
  let failures = 0
  let until = 0
  return {
    waitMs: () => Math.max(0, Math.ceil(until - now())),
    failed() {
      const longest = Math.min(longestMs, firstMs * 2 ** failures)
      failures = Math.min(failures + 1, 30)
      until = now() + longest * (0.5 + chance() / 2)
    },
    succeeded() {
      failures = 0
      until = 0
    },
  }
}
