/** Does it when all that follows from this event is done, over all of its promises, and before the next event. */
export function afterPromises(work: () => void): void {
  queueMicrotask(() => process.nextTick(work))
}
