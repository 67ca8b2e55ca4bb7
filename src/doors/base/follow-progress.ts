import type { CallRequest } from '../../contract/call-request.ts'

/** Progress that a tool reports. */
export type ProgressUpdate = Parameters<NonNullable<CallRequest['onProgress']>>[0]

/** A call that runs, and how its progress and its end are shown. */
export interface FollowedCall<End, Shown> {
  readonly run: (onProgress: (update: ProgressUpdate) => void) => Promise<End>
  readonly showProgress: (update: ProgressUpdate) => Shown
  readonly showEnd: (end: End) => Shown
}

/**
 * Runs a call, and iterates over its progress and, last, its end. An update that is not taken in time is replaced by the next one. The call starts with
 * the first `next`, and rejects that one if it fails.
 */
export function followProgress<End, Shown>(call: FollowedCall<End, Shown>): AsyncIterable<Shown> {
  return { [Symbol.asyncIterator]: () => createFollower(call) }
}

// perf: by hand, as nested generators cost half as much as the call itself.
function createFollower<End, Shown>(call: FollowedCall<End, Shown>): AsyncIterator<Shown> {
  let latest: ProgressUpdate | undefined
  let wake: (() => void) | undefined
  let ended: Promise<End> | undefined
  let isSettled = false
  let isOver = false
  const start = (): Promise<End> => {
    const running = call.run((update) => {
      latest = update
      wake?.()
    })
    const settle = (): void => {
      isSettled = true
      wake?.()
    }
    running.then(settle, settle)
    return running
  }
  return {
    async next() {
      if (isOver) return { done: true, value: undefined }
      ended ??= start()
      if (latest === undefined && !isSettled) await new Promise<void>((resolve) => (wake = resolve))
      if (latest !== undefined) {
        const value = call.showProgress(latest)
        latest = undefined
        return { done: false, value }
      }
      isOver = true
      return { done: false, value: call.showEnd(await ended) }
    },
  }
}
