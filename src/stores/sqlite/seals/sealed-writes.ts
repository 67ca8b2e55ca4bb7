import type { DatabaseSync } from 'node:sqlite'
import { createHeads, type Heads } from './heads.ts'
import type { Sealer } from './sealer.ts'
import { createSums, type Sums } from './sums.ts'
import { dataVersion } from '../base/data-version.ts'
import { inTransaction } from '../base/transaction.ts'

/** Transactions that go on only from what a process with the key of the store wrote. */
export interface SealedWrites {
  readonly sealer: Sealer
  readonly heads: Heads
  readonly sums: Sums
  /** Does the work in one transaction. Throws `Tampered` where what it goes on from was not written here, and `Upgraded` if the file has tables of a newer Handrail. */
  readonly write: <T>(work: () => T) => T
  /** Calls back in each transaction before which another connection wrote. */
  onOthers(forget: () => void): void
}

/** The transactions of this connection. */
export function createSealedWrites(db: DatabaseSync, sealer: Sealer): SealedWrites {
  const heads = createHeads(db, sealer)
  const sums = createSums(db, sealer)
  const forgetters: (() => void)[] = []
  let seen: unknown

  const begin = (): void => {
    const version = dataVersion(db)
    const othersWrote = version !== seen
    seen = version
    heads.begin(othersWrote)
    sums.begin(othersWrote)
    if (othersWrote) for (const forget of forgetters) forget()
  }
  return {
    sealer,
    heads,
    sums,
    write(work) {
      try {
        const result = inTransaction(db, () => {
          begin()
          const done = work()
          sums.end()
          return done
        })
        heads.done()
        return result
      } catch (error) {
        heads.undo()
        sums.undo()
        for (const forget of forgetters) forget()
        throw error
      }
    },
    onOthers: (forget) => void forgetters.push(forget),
  }
}
