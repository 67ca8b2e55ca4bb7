import type { Changes, Entry, Store } from '../contract/store.ts'
import { createRounds } from '../kit/time/create-rounds.ts'

/** What has to be written sooner or later, such as the end of a call that ran. */
export interface PersistentWrite {
  entries: readonly Entry[]
  changes: Changes | undefined
  /** Called once it is durable. */
  written: () => void
}

/** Writes that the store did not take, and that are tried again until it does. */
export interface PersistentWrites {
  keep(write: PersistentWrite): void
  /** Tries once more, and then no more. Returns how many the store did not take. */
  finish(): Promise<number>
}

/** So often a store that failed is tried again. */
const roundMs = 500

/** In the order in which they were kept; one that the store refuses holds up no other. */
export function createPersistentWrites(store: Pick<Store, 'append'>): PersistentWrites {
  let kept: readonly PersistentWrite[] = []
  let trying: Promise<void> = Promise.resolve()

  const writeAll = async (): Promise<void> => {
    const batch = kept
    kept = []
    const outcomes = await Promise.allSettled(
      batch.map(async ({ entries, changes }) => store.append(entries, changes)),
    )
    const isWritten = (_: PersistentWrite, index: number): boolean => outcomes[index]?.status === 'fulfilled'
    kept = [...batch.filter((write, index) => !isWritten(write, index)), ...kept]
    for (const write of batch.filter(isWritten)) write.written()
  }
  const tryAgain = (): Promise<void> => (trying = trying.then(writeAll))
  const rounds = createRounds(roundMs, () => {
    if (kept.length > 0) void tryAgain()
    return kept.length > 0
  })
  return {
    keep(write) {
      kept = [...kept, write]
      rounds.start()
    },
    async finish() {
      rounds.stop()
      await tryAgain()
      return kept.length
    },
  }
}
