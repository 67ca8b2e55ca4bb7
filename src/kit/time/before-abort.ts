/** What the work returns; undefined if the signal is aborted before. Work that has begun goes on. Leaves no listener behind. */
export async function beforeAbort<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  if (signal.aborted) return undefined
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>()
  const onAbort = (): void => resolve(undefined)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
