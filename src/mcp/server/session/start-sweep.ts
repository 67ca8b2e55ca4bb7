/** How long something may be idle, and how old it may get, in milliseconds. */
export interface Lifetime {
  readonly idleMs: number
  readonly maxAgeMs: number
}

/** Looks again and again for what has outlived its time, often enough for it. Does not keep the process alive. Returns what stops it. */
export function startSweep(look: () => void, { idleMs, maxAgeMs }: Lifetime): () => void {
  const sweep = setInterval(look, Math.max(50, Math.min(idleMs / 4, maxAgeMs / 4, 60_000)))
  sweep.unref()
  return () => clearInterval(sweep)
}
