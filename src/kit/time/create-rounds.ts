/** Something that is done every so often. */
export interface Rounds {
  /** Begins with the next round, where none is to come yet. */
  start(): void
  stop(): void
}

/** Does a round every so many milliseconds until one says that there is no more to do. Keeps no process alive. */
export function createRounds(everyMs: number, round: () => boolean): Rounds {
  let timer: NodeJS.Timeout | undefined
  const stop = (): void => {
    clearInterval(timer)
    timer = undefined
  }
  const next = (): void => {
    try {
      if (!round()) stop()
    } catch {
      // The next round tries again; if the store stays broken, its next caller reports it.
    }
  }
  return {
    start: () => void (timer ??= setInterval(next, everyMs).unref()),
    stop,
  }
}
