/** Rejects when the work is not done in time; its signal is aborted then. */
export async function withinTime<T>(
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const reason = new Error(`no answer within ${timeoutMs} ms`)
      reject(reason)
      controller.abort(reason)
    }, timeoutMs)
  })
  try {
    return await Promise.race([late, work(controller.signal)])
  } finally {
    clearTimeout(timer)
  }
}
