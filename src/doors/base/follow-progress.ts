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

// perf: by hand, as nested generators cost half as much as the call itself. Who waits is answered by the call, with no promise in between.
function createFollower<End, Shown>(call: FollowedCall<End, Shown>): AsyncIterator<Shown> {
  let latest: ProgressUpdate | undefined
  /** Shows the end, or throws what the call failed with. */
  let showEnd: (() => Shown) | undefined
  let asked: Pick<PromiseWithResolvers<IteratorResult<Shown>>, 'resolve' | 'reject'> | undefined
  let isStarted = false
  let isOver = false
  const answer = (show: () => Shown): void => {
    const waiting = asked
    asked = undefined
    try {
      waiting?.resolve({ done: false, value: show() })
    } catch (error) {
      waiting?.reject(error)
    }
  }
  const tell = (): void => {
    if (asked === undefined) return
    const update = latest
    latest = undefined
    if (update !== undefined) answer(() => call.showProgress(update))
    else if (showEnd !== undefined) {
      isOver = true
      answer(showEnd)
    }
  }
  const end = (show: () => Shown): void => {
    showEnd = show
    tell()
  }
  const fail = (error: unknown): void =>
    end(() => {
      throw error
    })
  const start = (): void => {
    isStarted = true
    try {
      const running = call.run((update) => {
        latest = update
        tell()
      })
      running.then((ended) => end(() => call.showEnd(ended)), fail)
    } catch (error) {
      fail(error)
    }
  }
  return {
    next: () =>
      isOver
        ? Promise.resolve({ done: true, value: undefined })
        : new Promise((resolve, reject) => {
            asked = { resolve, reject }
            if (isStarted) tell()
            else start()
          }),
  }
}
