/** Lets each key through so often in a minute, evenly, with a burst of a whole minute's worth. */
export interface RateLimit {
  /** Milliseconds to wait; 0 where it may go on, which counts. */
  take(key: string): number
}

const minuteMs = 60_000
/** Full buckets say nothing, so that they need not be kept. */
const maxKeys = 10_000

/** `now` counts milliseconds and never goes back: a clock that is set does not decide who may go on. */
export function createRateLimit(perMinute: number, now = () => performance.now()): RateLimit {
  const everyMs = minuteMs / perMinute
  /** When each bucket is full again. */
  const fullAt = new Map<string, number>()
  return {
    take(key) {
      const at = now()
      const full = Math.max(fullAt.get(key) ?? at, at)
      const waitMs = full + everyMs - at - minuteMs
      // A hair over it is rounding.
      if (waitMs > 1e-6) return waitMs
      if (fullAt.size >= maxKeys) for (const [each, until] of fullAt) if (until <= at) fullAt.delete(each)
      fullAt.set(key, full + everyMs)
      return 0
    },
  }
}
