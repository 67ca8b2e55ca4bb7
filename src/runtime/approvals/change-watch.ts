/** How often it is looked whether something changed, while something waits. */
const pollMs = 20

/** After so many times without a change it is looked all the same: something may have expired. */
const patience = 50

/** What waits for a change of questions, in this process or another. */
export interface ChangeWatch {
  /** Says that a question changed; without an id, that any may have. */
  changed(id: string | undefined): void
  /** Lets those go on at once whose question changed. */
  look(): void
  /** What `find` finds of this question, as soon as it does; undefined once the signal is aborted, or the watch is closed. Rejects with what it throws. */
  until<Value>(
    id: string,
    signal: AbortSignal,
    find: () => { value: Value } | undefined,
  ): Promise<Value | undefined>
  /** Calls back now, and soon after any question changed or may have expired, once for many. Returns what ends it. */
  watch(tell: () => void): () => void
  close(): void
}

/** Looks for changes by `refresh`, which tells `changed` of each. If a `refresh` fails, nothing counts as changed. */
export function createChangeWatch(refresh: () => void, onError: (cause: unknown) => void): ChangeWatch {
  const waiting = createWaiting()
  const watchers = new Set<() => void>()
  let changed = new Set<string>()
  let mayBeAny = false
  let isNews = false
  /** Many changes in one round are told of at once. */
  let isResting = false
  let isFailing = false
  let isClosed = false
  let timer: NodeJS.Timeout | undefined
  let rounds = 0
  const look = (): void => {
    try {
      refresh()
      isFailing = false
    } catch (cause) {
      if (!isFailing) onError(cause)
      isFailing = true
    }
    if (changed.size === 0 && !mayBeAny) return
    const ids = mayBeAny ? undefined : changed
    changed = new Set()
    mayBeAny = false
    isNews = true
    rounds = 0
    waiting.wake(ids)
    if (!isResting) tellAll()
  }
  const tellAll = (): void => {
    isNews = false
    isResting = true
    for (const tell of watchers) tell()
  }
  const poll = (): void => {
    if (++rounds > patience) mayBeAny = true
    isResting = false
    look()
    if (isNews) tellAll()
  }
  const settle = (): void => {
    if (waiting.size() + watchers.size > 0) return void (timer ??= setInterval(poll, pollMs))
    clearInterval(timer)
    timer = undefined
  }
  return {
    changed(id) {
      if (id === undefined) mayBeAny = true
      // What waits for nothing is found when it comes to wait.
      else if (timer !== undefined) changed.add(id)
    },
    look,
    async until(id, signal, find) {
      if (signal.aborted || isClosed) return undefined
      try {
        const waited = waiting.add(id, signal, find)
        settle()
        return await waited
      } finally {
        settle()
      }
    },
    watch(tell) {
      if (isClosed) return () => {}
      watchers.add(tell)
      settle()
      tell()
      return () => {
        watchers.delete(tell)
        settle()
      }
    },
    close() {
      isClosed = true
      watchers.clear()
      waiting.end()
      settle()
    },
  }
}

interface Waiting {
  readonly attempt: () => void
  readonly stop: () => void
}

/** What waits, by the id of its question. */
function createWaiting() {
  const byId = new Map<string, Set<Waiting>>()
  const leave = (id: string, one: Waiting): void => {
    const own = byId.get(id)
    own?.delete(one)
    if (own?.size === 0) byId.delete(id)
  }
  return {
    size: () => byId.size,
    /** Undefined: of all. */
    wake(ids: ReadonlySet<string> | undefined): void {
      for (const id of ids ?? [...byId.keys()]) for (const { attempt } of byId.get(id) ?? []) attempt()
    },
    end(): void {
      for (const own of byId.values()) for (const { stop } of own) stop()
    },
    add<Value>(
      id: string,
      signal: AbortSignal,
      find: () => { value: Value } | undefined,
    ): Promise<Value | undefined> {
      const { promise, resolve, reject } = Promise.withResolvers<Value | undefined>()
      const stop = (): void => {
        leave(id, one)
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
      byId.set(id, (byId.get(id) ?? new Set<Waiting>()).add(one))
      signal.addEventListener('abort', stop, { once: true })
      attempt()
      return promise
    },
  }
}
