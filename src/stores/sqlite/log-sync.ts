import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { NotTaken } from './base/sqlite-error.ts'
import { messageOf } from '../../kit/text/message-of.ts'

/** Takes to the disk what was committed to the write-ahead log of a database, of whichever process. */
export interface LogSync {
  /** Resolves when everything that was committed before is on the disk. Rejects where the disk did not take it. */
  sync(): Promise<void>
  /** The same, before it returns. */
  syncNow(): void
  /** Throws where the disk did not take something: what is written then may be gone too. */
  check(): void
  close(): void
}

/**
 * For the database at this path, which commits without a sync of its own (`synchronous = NORMAL`). A disk needs between a tenth of a
 * millisecond and several for a sync; in the meantime, this process goes on.
 */
export function createLogSync(path: string): LogSync {
  let log: number | undefined
  let failure: NotTaken | undefined
  // With the first commit there is a log, and it stays as long as anybody has the database open.
  const open = (): number => (log ??= openSync(`${path}-wal`, 'r+'))
  const failed = (error: unknown): NotTaken => (failure ??= notTaken(path, error))
  return {
    sync: () =>
      new Promise((resolve, reject) => {
        try {
          fdatasync(open(), (error) => (error === null ? resolve() : reject(failed(error))))
        } catch (error) {
          reject(failed(error))
        }
      }),
    syncNow() {
      try {
        fdatasyncSync(open())
      } catch (error) {
        throw failed(error)
      }
    },
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
