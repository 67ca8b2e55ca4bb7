import { setImmediate as giveWay } from 'node:timers/promises'

const perTurn = 500

/** Lets other work of this process go on, each time so much was done. */
export type Turns = () => Promise<void> | undefined

export function createTurns(): Turns {
  let done = 0
  return () => (++done % perTurn === 0 ? giveWay() : undefined)
}
