/** Why a run was told to end. */
export type RunEnd = 'timeout' | 'aborted_by_user' | 'run_cancelled'

/** The reason of an abort signal when a whole turn or session ends. */
export const runCancelled = 'run_cancelled'

/** Watches the time and the abort signal of one run. */
export interface RunWatch {
  /** Set as soon as the run was told to end. */
  readonly ended: RunEnd | undefined
  /** Made only when a tool looks at it. */
  readonly signal: AbortSignal
  /** The value, or `ended` when the run is told to end before. */
  firstOf(returned: Promise<unknown>): Promise<{ value: unknown } | 'ended'>
  /** The value, or `ended` when it is not there within the grace. */
  withinGrace(returned: Promise<unknown>, graceMs: number): Promise<{ value: unknown } | 'ended'>
  stop(): void
}

/** Starts to watch. Call `stop` when the run is over. */
export function createRunWatch(options: { timeoutMs: number; outer: AbortSignal | undefined }): RunWatch {
  const { outer } = options
  let ended: RunEnd | undefined = outer?.aborted === true ? toEnd(outer) : undefined
  let controller: AbortController | undefined
  let onEnd: (() => void) | undefined
  const end = (why: RunEnd) => {
    if (ended !== undefined) return
    ended = why
    controller?.abort(why)
    onEnd?.()
  }
  const timer = setTimeout(end, options.timeoutMs, 'timeout')
  const onAbort = () => outer !== undefined && end(toEnd(outer))
  outer?.addEventListener('abort', onAbort, { once: true })
  return {
    get ended() {
      return ended
    },
    get signal() {
      if (controller === undefined) {
        controller = new AbortController()
        if (ended !== undefined) controller.abort(ended)
      }
      return controller.signal
    },
    firstOf: (returned) =>
      new Promise((resolve) => {
        if (ended !== undefined) resolve('ended')
        onEnd = () => resolve('ended')
        void returned.then((value) => resolve({ value }))
      }),
    withinGrace: (returned, graceMs) =>
      new Promise((resolve) => {
        const late = setTimeout(resolve, graceMs, 'ended')
        void returned.then((value) => {
          clearTimeout(late)
          resolve({ value })
        })
      }),
    stop() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', onAbort)
    },
  }
}

function toEnd(signal: AbortSignal): RunEnd {
  return signal.reason === runCancelled ? 'run_cancelled' : 'aborted_by_user'
}
