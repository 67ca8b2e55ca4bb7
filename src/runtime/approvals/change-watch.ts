/** How often the store is asked whether something changed, while something waits. */
const pollMs = 20

/** After so many times without a change it is looked all the same: something may have expired. */
const patience = 50

/** What waits for a change of the facts of a store. */
export interface ChangeWatch {
  /** Says that this process changed something. */
  look(): void
  /** What `find` finds, as soon as it does; undefined once the signal is aborted, or the watch is closed. Rejects with what it throws. */
  until<Value>(signal: AbortSignal, find: () => { value: Value } | undefined): Promise<Value | undefined>
  close(): void
}

/** Looks whenever the version changed, by this process or another. A version that cannot be read just now is one that did not change. */
export function createChangeWatch(version: () => number, onError: (cause: unknown) => void): ChangeWatch {
  const waiting = new Set<Waiting>()
  let timer: NodeJS.Timeout | undefined
  let seen: number | undefined
  let isFailing = false
  let rounds = 0
  const read = (): number | undefined => {
    try {
      const now = version()
      isFailing = false
      return now
    } catch (cause) {
      if (!isFailing) onError(cause)
      isFailing = true
      return seen
    }
  }
  const look = (): void => {
    seen = read()
    rounds = 0
    for (const each of waiting) each.attempt()
  }
  const poll = (): void => {
    if (read() !== seen || ++rounds > patience) look()
  }
  const leave = (one: Waiting): void => {
    waiting.delete(one)
    if (waiting.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  return {
    look,
    until<Value>(signal: AbortSignal, find: () => { value: Value } | undefined): Promise<Value | undefined> {
      const { promise, resolve, reject } = Promise.withResolvers<Value | undefined>()
      if (signal.aborted) return Promise.resolve(undefined)
      const stop = (): void => {
        leave(one)
        signal.removeEventListener('abort', stop)
        resolve(undefined)
      }
      const attempt = (): void => {
        try {
          const found = find()
          if (found === undefined) return
          resolve(found.value)
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)))
        }
        stop()
      }
      const one: Waiting = { attempt, stop }
      waiting.add(one)
      timer ??= setInterval(poll, pollMs)
      signal.addEventListener('abort', stop, { once: true })
      attempt()
      return promise
    },
    close() {
      for (const { stop } of waiting) stop()
    },
  }
}

interface Waiting {
  readonly attempt: () => void
  readonly stop: () => void
}
