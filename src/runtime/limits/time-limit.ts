import { onNextTurn, takeBack, type OnNextTurn } from '../../kit/time/on-next-turn.ts'

/** A call that holds its limit more often than this does not want to end. */
const maxHolds = 16

const none: ReadonlySet<NodeJS.Timeout> = new Set()

/** Milliseconds of a monotonic clock. */
export type Tick = () => number

/** The time limit of one run. It stands still while anybody holds it. What ends before the event loop turns costs it no timer. */
export class TimeLimit {
  readonly #tick: Tick
  /** Set from start to stop. */
  #onEnd: (() => void) | undefined
  #isOver = false
  /** Runs only while the limit is not held. */
  #timer: NodeJS.Timeout | undefined
  /** Starts the timer. Set until the event loop turns. */
  #arming: OnNextTurn | undefined
  #leftMs = 0
  #runsSince = 0
  #holds = 0
  /** Those that stand, with what lets each go in the end. */
  #held: ReadonlySet<NodeJS.Timeout> = none
  #heldSince = 0
  #heldMs = 0

  /** `heldMs` is measured in ticks. */
  constructor(tick: Tick) {
    this.#tick = tick
  }

  /** Calls back so long after `since`, and what it was held for in between. Called once. */
  start(limitMs: number, onEnd: () => void, since = performance.now()): void {
    this.#onEnd = onEnd
    this.#leftMs = limitMs
    if (this.#held.size === 0) return this.#run(onEnd, since)
    this.#leftMs = limitMs - (performance.now() - since)
    for (const timer of this.#held) timer.ref()
  }

  /** From now on it neither calls back nor can be held. */
  stop(): void {
    this.#isOver = true
    this.#onEnd = undefined
    this.#disarm()
    if (this.#held.size === 0) return
    this.#heldMs = this.heldMs
    for (const timer of this.#held) clearTimeout(timer)
    this.#held = none
  }

  /**
   * It stands still until the returned function is called, at most for `longestMs`. Several may hold it at once. A holder that `joins`
   * waits for something that counts as a hold of another limit.
   */
  hold(longestMs: number, joins = false): () => void {
    if (this.#isOver || (!joins && this.#holds >= maxHolds)) return () => {}
    if (!joins) this.#holds++
    if (this.#held.size === 0) this.#stand()
    const letGo = (): void => {
      clearTimeout(timer)
      if (!this.#held.has(timer)) return
      this.#held = new Set([...this.#held].filter((each) => each !== timer))
      if (this.#held.size === 0) this.#goOn()
    }
    const timer = setTimeout(letGo, longestMs)
    // A tool that returns at once starts no limit, and what it left behind keeps no process alive.
    if (this.#onEnd === undefined) timer.unref()
    this.#held = new Set([...this.#held, timer])
    return letGo
  }

  /** Whether its time is up although it could not call back: something let nothing else run. */
  get isOverdue(): boolean {
    if (this.#onEnd === undefined) return false
    // While it stands still, it is overdue only if it was before.
    return this.#held.size > 0 ? this.#leftMs < 0 : performance.now() - this.#runsSince > this.#leftMs
  }

  /** How long it stood still so far. */
  get heldMs(): number {
    return this.#heldMs + (this.#held.size > 0 ? this.#sinceHeld() : 0)
  }

  #sinceHeld(): number {
    return Math.max(0, this.#tick() - this.#heldSince)
  }

  #stand(): void {
    this.#heldSince = this.#tick()
    if (this.#onEnd === undefined) return
    this.#disarm()
    this.#leftMs = Math.max(0, this.#leftMs - (performance.now() - this.#runsSince))
  }

  #goOn(): void {
    this.#heldMs += this.#sinceHeld()
    if (this.#onEnd !== undefined) this.#run(this.#onEnd, performance.now())
  }

  #run(onEnd: () => void, since: number): void {
    this.#runsSince = since
    this.#arming = onNextTurn(() => {
      this.#arming = undefined
      this.#timer = setTimeout(onEnd, Math.max(0, this.#leftMs - (performance.now() - this.#runsSince)))
    })
  }

  #disarm(): void {
    if (this.#arming !== undefined) takeBack(this.#arming)
    else clearTimeout(this.#timer)
    this.#arming = undefined
  }
}
