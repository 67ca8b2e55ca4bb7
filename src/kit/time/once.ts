/** Does the work when it is first asked for. A caller that asks again, even from within the work, waits for the same. */
export function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    if (done !== undefined) return done
    const { promise, resolve } = Promise.withResolvers<void>()
    done = promise
    resolve(work())
    return promise
  }
}
