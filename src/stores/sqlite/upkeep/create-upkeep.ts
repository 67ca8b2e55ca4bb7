import { createRounds } from '../../../kit/time/create-rounds.ts'

/** Does what is due behind the records, while nothing else is written: their summaries, and packing the older ones. */
export interface Upkeep {
  /** Says that records were written: what is due waits until no more come. */
  wrote(): void
  /** Begins, if there may be something due. */
  start(): void
  /** Ends it. A process that wrote makes one pack on its way out, as many live for one call only. */
  stop(): void
}

export interface UpkeepWork {
  /** Makes one summary that is missing. Returns whether it did. */
  makeOne: () => boolean
  /** Makes one pack that is due. Returns whether it did. */
  packOne: () => boolean
}

const roundMs = 100
/** How long calls may wait for the summaries of a round while nothing is written. One takes about five milliseconds. */
const summariesMs = 20
/** If records never stop coming, one thing is done in each round: in one of so many a summary, in the others a pack. */
const roundsPerSummary = 10
/** How long calls may wait for packs while nothing is written, of which one takes about two milliseconds, and how long nothing is packed then. */
const packsMs = 4
const pauseMs = 16

/** A little in each round, until nothing is due. */
export function createUpkeep({ makeOne, packOne }: UpkeepWork): Upkeep {
  let hasWritten = false
  let hasEverWritten = false
  let waited = 0
  const packs = createRounds(pauseMs + packsMs, () => !hasWritten && workFor(packsMs, packOne))
  const rounds = createRounds(roundMs, () => {
    const isBusy = hasWritten
    hasWritten = false
    if (isBusy) {
      const isForSummary = ++waited % roundsPerSummary === 0
      if (!isForSummary || !makeOne()) packOne()
      return true
    }
    waited = 0
    if (workFor(summariesMs, makeOne)) return true
    packs.start()
    return false
  })
  return {
    wrote() {
      hasWritten = hasEverWritten = true
      rounds.start()
    },
    start: () => rounds.start(),
    stop() {
      rounds.stop()
      packs.stop()
      if (hasEverWritten) tryTo(packOne)
    },
  }
}

/** Whether there may be more to do when the time is over. */
function workFor(ms: number, doOne: () => boolean): boolean {
  const end = performance.now() + ms
  while (doOne()) if (performance.now() >= end) return true
  return false
}

function tryTo(work: () => unknown): void {
  try {
    work()
  } catch {
    // What is due stays due; if the store is broken, its next caller reports it.
  }
}
