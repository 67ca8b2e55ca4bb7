/**
 * Tells one who watches. What they throw, or what a promise that they return rejects with, goes to `onError` and changes nothing: a
 * function that returns nothing may be an async one.
 */
export function tellWatcher<Said>(
  watcher: (said: Said) => unknown,
  said: Said,
  onError: (cause: unknown) => void,
): void {
  try {
    const returned = watcher(said)
    if (returned instanceof Promise) returned.catch(onError)
  } catch (cause) {
    onError(cause)
  }
}
