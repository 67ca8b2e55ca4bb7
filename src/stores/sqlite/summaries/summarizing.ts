import { createRounds } from '../../../kit/time/create-rounds.ts'
import type { Summaries } from './summaries.ts'

/** Makes summaries behind the records, while nothing else is written. */
export interface Summarizing {
  /** Says that records were written: what is due waits until no more come. */
  wrote(): void
  /** Begins, if there may be something due. */
  start(): void
  stop(): void
}

const roundMs = 200
/** How long calls may wait for the summaries of a round. One takes about five milliseconds. */
const workMs = 20
/** If records never stop coming, summaries are made in one of so many rounds. */
const busyRounds = 10

/** A few summaries a round, until none is due. */
export function createSummarizing(summaries: Summaries): Summarizing {
  let hasWritten = false
  let waited = 0
  const rounds = createRounds(roundMs, () => {
    const isBusy = hasWritten && ++waited < busyRounds
    hasWritten = false
    if (isBusy) return true
    waited = 0
    const end = performance.now() + workMs
    while (summaries.makeOne()) if (performance.now() >= end) return true
    return false
  })
  return {
    wrote() {
      hasWritten = true
      rounds.start()
    },
    start: () => rounds.start(),
    stop: () => rounds.stop(),
  }
}
