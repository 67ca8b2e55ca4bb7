import { Bag, type InBag } from '../bag.ts'

const waiting = new Bag<() => void>()
let isScheduled = false

/** What is called when the event loop turns. */
export type OnNextTurn = InBag<() => void>

/** Calls this once the event loop turns, unless it is taken back before. Costs nearly nothing then, unlike a timer. */
export function onNextTurn(work: () => void): OnNextTurn {
  if (!isScheduled) setImmediate(workAll)
  isScheduled = true
  return waiting.add(work)
}

/** Does not call it any more. */
export function takeBack(work: OnNextTurn): void {
  waiting.remove(work)
}

function workAll(): void {
  isScheduled = false
  for (const work of waiting.empty()) work()
}
