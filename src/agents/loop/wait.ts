import { setTimeout as sleep } from 'node:timers/promises'

/** Resolves after so many milliseconds, or as soon as the signal is aborted. */
export async function wait(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
}
