const waiting = new Set<() => void>()
let isScheduled = false

/** Calls this once the event loop turns, unless it is taken back before. Costs nearly nothing then, unlike a timer. */
export function onNextTurn(work: () => void): void {
  waiting.add(work)
  if (isScheduled) return
  isScheduled = true
  setImmediate(workAll)
}

/** Does not call it any more. */
export function takeBack(work: () => void): void {
  waiting.delete(work)
}

function workAll(): void {
  isScheduled = false
  const works = [...waiting]
  waiting.clear()
  for (const work of works) work()
}
