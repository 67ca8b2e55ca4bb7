import type { Endings } from '../state/endings.ts'
import type { Called } from '../state/call-state.ts'
import { TimeLimit, type Tick } from './time-limit.ts'

/** Why a run was told to end. */
export type RunEnd = 'timeout' | 'aborted_by_user' | 'run_cancelled'

/** Watches the time and the abort signals of one run. Costs nothing for a tool that returns at once. */
export interface RunWatch {
  /** Set as soon as the run was told to end. */
  readonly ended: RunEnd | undefined
  /** Made only when a tool looks at it. */
  readonly signal: AbortSignal
  /** The same for what ends with its call: it is aborted when the call is answered, too. */
  readonly over: AbortSignal
  /**
   * The value, or `ended` when the run is told to end, or its time is up, before. Rejects with what it rejects with. Called once. A value
   * that came too late, as nothing else could run meanwhile, is there, and `ended` is set. The time runs since now, if not earlier.
   */
  firstOf<Value>(
    returned: Promise<Value>,
    timeoutMs: number,
    since?: number,
  ): Promise<{ value: Value } | 'ended'>
  /** The value, or `ended` when it is not there within the grace. */
  withinGrace(returned: Promise<unknown>, graceMs: number): Promise<{ value: unknown } | 'ended'>
  /**
   * The time stands still until the returned function is called, at most for `longestMs`, and at most 16 times. Several may hold it at
   * once. A holder that `joins` waits for something that counts for another call.
   */
  hold(longestMs: number, joins?: boolean): () => void
  /** How long the time stood still so far. */
  readonly heldMs: number
  /** Whether the call is answered: whatever its tool does from now on is not part of it. */
  readonly answered: boolean
  answer(): void
}

/** A watch over a call that ends when its signal is aborted, when the call is, or when its session closes. `heldMs` is measured in ticks. */
export function createRunWatch(called: Called, endings: Endings, tick: Tick = monotonic): RunWatch {
  return new Watch(called, endings, tick)
}

const monotonic: Tick = () => performance.now()

class Watch implements RunWatch {
  readonly #call: string
  readonly #outer: AbortSignal | undefined
  readonly #endings: Endings
  readonly #tick: Tick
  #ended: RunEnd | undefined
  #controller: AbortController | undefined
  #over: AbortController | undefined
  #limit: TimeLimit | undefined
  answered = false

  constructor({ call, signal }: Called, endings: Endings, tick: Tick) {
    this.#call = call.id
    this.#outer = signal
    this.#endings = endings
    this.#tick = tick
    this.#ended = this.#findEnd()
  }

  /** What happened before anybody listened. */
  #findEnd(): RunEnd | undefined {
    if (this.#endings.closed) return 'run_cancelled'
    return this.#outer?.aborted === true || this.#endings.aborted.has(this.#call)
      ? 'aborted_by_user'
      : undefined
  }

  get ended() {
    return this.#ended
  }

  get signal() {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#ended !== undefined) this.#controller.abort(this.#ended)
    }
    return this.#controller.signal
  }

  get over() {
    this.#over ??= new AbortController()
    return AbortSignal.any([this.signal, this.#over.signal])
  }

  get heldMs() {
    return this.#limit?.heldMs ?? 0
  }

  answer(): void {
    this.answered = true
    this.#over?.abort()
  }

  hold(longestMs: number, joins?: boolean): () => void {
    return this.#ended === undefined ? this.#ownLimit().hold(longestMs, joins) : () => {}
  }

  #ownLimit(): TimeLimit {
    return (this.#limit ??= new TimeLimit(this.#tick))
  }

  // By hand instead of a race of promises: this is on the way of every call that waits for anything.
  firstOf<Value>(
    returned: Promise<Value>,
    timeoutMs: number,
    since?: number,
  ): Promise<{ value: Value } | 'ended'> {
    const outer = this.#outer
    const { listeners } = this.#endings
    const limit = this.#ownLimit()
    return new Promise((resolve, reject) => {
      const clear = (): void => {
        limit.stop()
        outer?.removeEventListener('abort', onAbort)
        listeners.remove(listening)
      }
      const end = (why: RunEnd): void => {
        clear()
        this.#ended = why
        this.#controller?.abort(why)
        resolve('ended')
      }
      const onAbort = (): void => end('aborted_by_user')
      const onEnding = (call: string | undefined): void => {
        if (call === undefined) end('run_cancelled')
        else if (call === this.#call) end('aborted_by_user')
      }
      limit.start(timeoutMs, () => end('timeout'), since)
      outer?.addEventListener('abort', onAbort, { once: true })
      const listening = listeners.add(onEnding)
      returned.then(
        (value) => {
          if (limit.isOverdue) this.#ended = 'timeout'
          clear()
          resolve({ value })
        },
        (error: unknown) => {
          clear()
          reject(error)
        },
      )
      // What is waited for may have ended the run itself while it started.
      const why = this.#findEnd()
      if (why !== undefined) end(why)
    })
  }

  withinGrace(returned: Promise<unknown>, graceMs: number): Promise<{ value: unknown } | 'ended'> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, graceMs, 'ended')
      returned.then(
        (value) => {
          clearTimeout(timer)
          resolve({ value })
        },
        (error: unknown) => {
          clearTimeout(timer)
          reject(error)
        },
      )
    })
  }
}
