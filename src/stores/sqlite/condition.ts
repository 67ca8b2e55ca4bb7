import { ToolFailure } from '../../contract/base/errors.ts'
import { createRounds } from '../../kit/time/create-rounds.ts'
import { describeTrouble, hitsWholeFile, storeFailure } from './base/sqlite-error.ts'
import { Tampered } from './seals/tampered.ts'

/** Whether a store takes records. */
export interface Condition {
  /** Why it takes none, so that it is only read; undefined when it takes them, or fails to. */
  readonly readOnly: string | undefined
  /** Why it takes none right now, in words for everybody; undefined when it takes them. */
  readonly trouble: string | undefined
  /** The failure of a caller that wants to write; undefined if it takes records. */
  readonly refusal: ToolFailure | undefined
  /** Throws where it takes none. */
  check(): void
  /** It takes none from here on; the caller that opened it is told once. */
  stop(why: string): void
  /** Reports something that does not keep it from taking records to the caller that opened it. */
  tell(message: string): void
  /** Does work on the store. What the database or its seals report becomes the failure of the caller. */
  readonly guarded: <T>(work: () => T) => T
  /** The failure of a caller whose request failed like this. */
  toFailure(error: unknown): ToolFailure
  /** The same for a write. A failure that would hit every write is told once, and tried again until a write goes well. */
  toWriteFailure(error: unknown): ToolFailure
  /** Says that a write went well. */
  worked(): void
  /** Looks at it from time to time until `close`, whether anybody asks or not. */
  watch(): void
  /** It stays as it is. */
  close(): void
}

export interface ConditionOptions {
  path: string
  description: string
  /** Whether its files are where they were when it was opened. */
  isThere: () => boolean
  /** Writes something small, to find out whether that goes well again. */
  probe: () => void
  /** Told when writes begin to fail, and when they go well again: while they fail, none may wait. */
  onFailing: (isFailing: boolean) => void
  /** Told why, when a store that took records takes none any more, and when it takes them again. */
  onError: (message: string) => void
}

const roundMs = 1000

/** A store that takes records. */
export function createCondition({
  path,
  description,
  isThere,
  probe,
  onFailing,
  onError,
}: ConditionOptions): Condition {
  /** Why it takes none for good. */
  let stopped: string | undefined
  let isAway = false
  let closed = false
  let failing: string | undefined
  const again = `The store "${path}" takes records again.`

  const look = (): void => {
    if (closed || isThere() !== isAway) return
    isAway = !isAway
    onError(isAway ? describeAway(path) : again)
  }
  const readOnly = (): string | undefined => {
    look()
    return stopped ?? (isAway ? describeAway(path) : undefined)
  }
  const stop = (why: string): void => {
    if (stopped !== undefined) return
    stopped = describeHalted(path, why)
    onError(stopped)
  }
  const refuse = (message: string): ToolFailure =>
    new ToolFailure({ code: 'PROVIDER.UNAVAILABLE', reason: 'store_read_only', message })
  const toFailure = (error: unknown): ToolFailure => {
    if (!(error instanceof Tampered)) return storeFailure(description, error)
    stop(error.message)
    return refuse(stopped ?? error.message)
  }
  const worked = (): void => {
    if (failing === undefined) return
    failing = undefined
    onFailing(false)
    onError(again)
  }
  const rounds = createRounds(roundMs, () => {
    look()
    if (failing === undefined || readOnly() !== undefined) return true
    probe()
    worked()
    return true
  })
  return {
    get readOnly() {
      return readOnly()
    },
    get trouble() {
      if (readOnly() === undefined) return failing
      return isAway ? 'it was deleted, moved or replaced' : 'it is damaged, or was changed by something else'
    },
    get refusal() {
      const message = readOnly()
      return message === undefined ? undefined : refuse(message)
    },
    check() {
      const message = readOnly()
      if (message !== undefined) throw refuse(message)
    },
    stop,
    tell: (message) => onError(`In the store "${path}": ${message}`),
    guarded(work) {
      try {
        return work()
      } catch (error) {
        throw toFailure(error)
      }
    },
    toFailure,
    toWriteFailure(error) {
      const failure = toFailure(error)
      if (failing === undefined && hitsWholeFile(error)) {
        failing = describeTrouble(error)
        onFailing(true)
        onError(`${failure.message} Until it takes records again, no call runs that has to be recorded.`)
      }
      return failure
    },
    worked,
    watch: () => rounds.start(),
    close() {
      look()
      closed = true
      rounds.stop()
    },
  }
}

function describeHalted(path: string, why: string): string {
  return (
    `The store "${path}" takes no records: ${why}. Keep the file, run "handrail evidence verify" to see the whole damage, ` +
    'and go on with a good copy or another path.'
  )
}

function describeAway(path: string): string {
  return (
    `The store "${path}" takes no records: the file was deleted, moved or replaced while it was open. ` +
    'Put the same file back with its "-wal", or start Handrail again to go on with what is there now.'
  )
}
