import { constants } from 'node:os'

/** Hears the signals that ask a process to end. */
export interface StopSignal {
  /** Aborted by the first one, with the reason `aborted_by_user`. */
  readonly signal: AbortSignal
  /** Does what a signal does. */
  stop(): void
  /** Gives the signals back to their default. */
  release(): void
}

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** A terminal, npm and the launcher each hand the same Ctrl-C on; what comes within this time is still the first one. */
const sameMs = 1_000

/**
 * Listens for Ctrl-C, SIGTERM and SIGHUP. The first asks for a clean end; one that comes more than a second later ends the process at once.
 */
export function listenForStop(): StopSignal {
  const aborting = new AbortController()
  let firstAt = 0
  const stop = () => {
    if (aborting.signal.aborted) return
    firstAt = performance.now()
    aborting.abort('aborted_by_user')
  }
  const onSignal = (name: (typeof names)[number]) => {
    if (aborting.signal.aborted && performance.now() - firstAt > sameMs)
      process.exit(128 + constants.signals[name])
    stop()
  }
  for (const name of names) process.on(name, onSignal)
  return {
    signal: aborting.signal,
    stop,
    release() {
      for (const name of names) process.removeListener(name, onSignal)
    },
  }
}

/** Resolves when the signal is aborted. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
