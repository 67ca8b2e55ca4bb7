/** Rejects with a TimeLimitError when the work is not done in time; its signal is aborted then, or when `outer` is. */
export async function withinTime<T>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
  outer?: AbortSignal,
): Promise<T> {
  const controller = new AbortController()
  let fail: (reason: Error) => void = () => {}
  const failed = new Promise<never>((_, reject) => (fail = reject))
  const timer = setTimeout(() => end(new TimeLimitError(timeoutMs)), timeoutMs)
  const end = (reason: Error) => {
    fail(reason)
    controller.abort(reason)
  }
  const onAbort = () => end(new Error('aborted'))
  if (outer?.aborted === true) onAbort()
  outer?.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([failed, work(controller.signal)])
  } finally {
    clearTimeout(timer)
    outer?.removeEventListener('abort', onAbort)
  }
}

/** The work was not done in time. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'

  constructor(timeoutMs: number) {
    super(`no answer within ${timeoutMs} ms`)
  }
}
