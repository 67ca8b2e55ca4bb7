/** Whoever holds a limit more often than this does not want to end. */
const maxHolds = 16

/** Tells the time, in milliseconds since the epoch. */
export interface Clock {
  now(): number
}

/** The time limit of one run. It stands still while anybody holds it. */
export class TimeLimit {
  readonly #clock: Clock
  #onEnd: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #isDue = false
  #holds = 0
  /** Those that stand, with what lets each go in the end. */
  readonly #held = new Set<NodeJS.Timeout>()
  #since = { steady: 0, clock: 0 }
  #owedMs = 0
  #heldMs = 0

  /** `heldMs` is measured by the clock. */
  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls back after so long, and what it was held for in between. Called once. */
  start(limitMs: number, onEnd: () => void): void {
    this.#onEnd = onEnd
    this.#timer = setTimeout(end, limitMs, this)
  }

  /** It calls back no more. */
  stop(): void {
    this.#onEnd = undefined
    clearTimeout(this.#timer)
    if (this.#held.size === 0) return
    this.#heldMs = this.heldMs
    for (const timer of this.#held) clearTimeout(timer)
    this.#held.clear()
  }

  /** It stands still until what this gives is called, at most for so long. Several may hold it at once. */
  hold(longestMs: number): () => void {
    if (this.#holds >= maxHolds) return () => {}
    this.#holds++
    if (this.#held.size === 0) this.#since = { steady: performance.now(), clock: this.#clock.now() }
    const letGo = (): void => {
      clearTimeout(timer)
      if (this.#held.has(timer)) this.#release(timer)
    }
    const timer = setTimeout(letGo, longestMs)
    this.#held.add(timer)
    return letGo
  }

  /** How long it stood still so far. */
  get heldMs(): number {
    return this.#heldMs + (this.#held.size > 0 ? Math.max(0, this.#clock.now() - this.#since.clock) : 0)
  }

  #release(timer: NodeJS.Timeout): void {
    if (this.#held.size > 1) return void this.#held.delete(timer)
    this.#heldMs = this.heldMs
    this.#held.delete(timer)
    this.#owedMs += performance.now() - this.#since.steady
    if (this.#isDue) this.end()
  }

  /** Its time is up, unless it was held meanwhile. */
  end(): void {
    this.#isDue = this.#held.size > 0
    if (this.#isDue) return
    if (this.#owedMs === 0) return this.#onEnd?.()
    this.#timer = setTimeout(end, this.#owedMs, this)
    this.#owedMs = 0
  }
}

function end(limit: TimeLimit): void {
  limit.end()
}
