/** Why a run was told to end. */
export type RunEnd = 'timeout' | 'aborted_by_user' | 'run_cancelled'

/** Tells those who run that their session ends. Cheaper than an abort signal with a listener for each call. */
export interface Closing {
  readonly closed: boolean
  readonly listeners: Set<() => void>
}

/** Watches the time and the abort signals of one run. Costs nothing for a tool that returns at once. */
export interface RunWatch {
  /** Set as soon as the run was told to end. */
  readonly ended: RunEnd | undefined
  /** Made only when a tool looks at it. */
  readonly signal: AbortSignal
  /** The value, or `ended` when the run is told to end, or its time is up, before. Rejects with what it rejects with. Called once. */
  firstOf(returned: Promise<unknown>, timeoutMs: number): Promise<{ value: unknown } | 'ended'>
  /** The value, or `ended` when it is not there within the grace. */
  withinGrace(returned: Promise<unknown>, graceMs: number): Promise<{ value: unknown } | 'ended'>
}

/** A watch over a run that the caller can abort by `outer` and that ends when its session closes. */
export function createRunWatch(outer: AbortSignal | undefined, closing: Closing): RunWatch {
  return new Watch(outer, closing)
}

class Watch implements RunWatch {
  readonly #outer: AbortSignal | undefined
  readonly #closing: Closing
  #ended: RunEnd | undefined
  #controller: AbortController | undefined

  constructor(outer: AbortSignal | undefined, closing: Closing) {
    this.#outer = outer
    this.#closing = closing
    if (closing.closed) this.#ended = 'run_cancelled'
    else if (outer?.aborted === true) this.#ended = 'aborted_by_user'
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

  // By hand instead of a race of promises: this is on the way of every call that waits for anything.
  firstOf(returned: Promise<unknown>, timeoutMs: number): Promise<{ value: unknown } | 'ended'> {
    const outer = this.#outer
    const { listeners } = this.#closing
    return new Promise((resolve, reject) => {
      const clear = (): void => {
        clearTimeout(timer)
        outer?.removeEventListener('abort', onAbort)
        listeners.delete(onClose)
      }
      const end = (why: RunEnd): void => {
        clear()
        this.#ended = why
        this.#controller?.abort(why)
        resolve('ended')
      }
      const onAbort = (): void => end('aborted_by_user')
      const onClose = (): void => end('run_cancelled')
      const timer = setTimeout(end, timeoutMs, 'timeout')
      outer?.addEventListener('abort', onAbort, { once: true })
      listeners.add(onClose)
      returned.then(
        (value) => {
          clear()
          resolve({ value })
        },
        (error: unknown) => {
          clear()
          reject(error)
        },
      )
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
