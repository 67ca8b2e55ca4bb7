import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { NotTaken } from './base/sqlite-error.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/** Takes to the disk what was committed to the write-ahead log of a database, of whichever process. */
export interface LogSync {
  /**
   * Takes to the disk everything that was committed before. Resolves when that is there, and rejects if the disk did not take it. If its
   * caller is alone and the disk was quick of late, it is there on return (undefined), or this throws.
   */
  sync(isAlone: boolean): Promise<void> | undefined
  /** The same, before it returns. */
  syncNow(): void
  /** Throws where the disk did not take something: what is written then may be gone too. */
  check(): void
  close(): void
}

/** A sync that takes no longer, in milliseconds, may stop this process. To hand it to a thread and to be woken by it costs a tenth of one. */
const quickMs = 1
/** So many in a row have to be quick before one stops this process. */
const trusted = 16

/**
 * For the database at this path, which commits without a sync of its own (`synchronous = NORMAL`). A disk needs between a tenth of a
 * millisecond and several for a sync; in the meantime, this process goes on, unless waiting in place is cheaper.
 */
export function createLogSync(path: string): LogSync {
  let log: number | undefined
  let failure: NotTaken | undefined
  // With the first commit there is a log, and it stays as long as anybody has the database open.
  const open = (): number => (log ??= openSync(`${path}-wal`, 'r+'))
  const failed = (error: unknown): NotTaken => (failure ??= notTaken(path, error))
  let quickInARow = 0
  const took = (since: number): void => {
    quickInARow = performance.now() - since < quickMs ? quickInARow + 1 : 0
  }
  const syncNow = (): void => {
    try {
      fdatasyncSync(open())
    } catch (error) {
      throw failed(error)
    }
  }
  const syncBehind = (since: number): Promise<void> =>
    new Promise((resolve, reject) => {
      try {
        fdatasync(open(), (error) => {
          took(since)
          if (error === null) resolve()
          else reject(failed(error))
        })
      } catch (error) {
        reject(failed(error))
      }
    })
  return {
    sync(isAlone) {
      const since = performance.now()
      if (!isAlone || quickInARow < trusted) return syncBehind(since)
      syncNow()
      took(since)
      return undefined
    },
    syncNow,
    check() {
      if (failure !== undefined) throw failure
    },
    close() {
      if (log !== undefined) closeSync(log)
      log = undefined
    },
  }
}

/** After such a failure it is not known what is on the disk; a later sync that goes well shows nothing of what was written before. */
function notTaken(path: string, error: unknown): NotTaken {
  const why = messageOf(error)
  return new NotTaken({
    code: 'PROVIDER.UNAVAILABLE',
    reason: 'store_failed',
    message: `The disk failed to take what was written to the store "${path}" (${why}), so it takes no more records. Check the disk and its space, then start Handrail again.`,
  })
}
