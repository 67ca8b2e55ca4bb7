import { constants } from 'node:os'

/** Hears the signals that ask a process to end. */
export interface StopSignal {
  /** Aborted by the first one, with the reason `aborted_by_user`. */
  readonly signal: AbortSignal
  /** What a process ends with that was asked to: 128 and the number of the first signal, as shells have it. Undefined before. */
  readonly exitCode: number | undefined
  /** Does what Ctrl-C does, where a terminal hands it on as a letter. */
  stop(): void
  /** Gives the signals back to their default, unless one came: it may be handed on once more while the process ends. */
  release(): void
}

const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** A terminal, npm and the launcher each hand the same Ctrl-C on; what comes within this time is still the first one. */
const sameMs = 2_000

/**
 * Listens for Ctrl-C, SIGTERM and SIGHUP. The first asks for a clean end; one that comes more than two seconds later ends the process at once.
 */
export function listenForStop(): StopSignal {
  const aborting = new AbortController()
  let firstAt = 0
  let exitCode: number | undefined
  const onSignal = (name: (typeof names)[number]) => {
    if (exitCode !== undefined && performance.now() - firstAt > sameMs) process.exit(exitCodeOf(name))
    if (exitCode !== undefined) return
    exitCode = exitCodeOf(name)
    firstAt = performance.now()
    aborting.abort('aborted_by_user')
  }
  for (const name of names) process.on(name, onSignal)
  return {
    signal: aborting.signal,
    get exitCode() {
      return exitCode
    },
    stop: () => onSignal('SIGINT'),
    release() {
      if (exitCode === undefined) for (const name of names) process.removeListener(name, onSignal)
    },
  }
}

function exitCodeOf(name: (typeof names)[number]): number {
  return 128 + constants.signals[name]
}

/** Resolves when the signal is aborted. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
