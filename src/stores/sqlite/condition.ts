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
  notify(message: string): void
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
export function createCondition(options: ConditionOptions): Condition {
  const { path, description, probe, onFailing, onError } = options
  const halt = createHalt(options)
  let failing: string | undefined

  const refuse = (message: string): ToolFailure =>
    new ToolFailure({ code: 'PROVIDER.UNAVAILABLE', reason: 'store_read_only', message })
  const toFailure = (error: unknown): ToolFailure =>
    error instanceof Tampered ? refuse(halt.stop(error.message)) : storeFailure(description, error)
  const worked = (): void => {
    if (failing === undefined) return
    failing = undefined
    onFailing(false)
    onError(describeAgain(path))
  }
  const rounds = createRounds(roundMs, () => {
    halt.look()
    if (failing === undefined || halt.why() !== undefined) return true
    probe()
    worked()
    return true
  })
  const refusal = (): ToolFailure | undefined => {
    const why = halt.why()
    return why === undefined ? undefined : refuse(why)
  }
  return {
    get readOnly() {
      return halt.why()
    },
    get trouble() {
      if (halt.why() === undefined) return failing
      return halt.isAway()
        ? 'it was deleted, moved or replaced'
        : 'it is damaged, or was changed by something else'
    },
    get refusal() {
      return refusal()
    },
    check() {
      const failure = refusal()
      if (failure !== undefined) throw failure
    },
    stop: (why) => void halt.stop(why),
    notify: (message) => onError(`In the store "${path}": ${message}`),
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
      halt.close()
      rounds.stop()
    },
  }
}

/** Why a store is only read: it does not hold, or its files are gone. */
interface Halt {
  /** Looks whether its files are there. */
  look(): void
  isAway(): boolean
  why(): string | undefined
  /** It is only read from here on. Returns why, in full. */
  stop(why: string): string
  /** It stays as it is. */
  close(): void
}

function createHalt({ path, isThere, onError }: ConditionOptions): Halt {
  /** Why it takes none for good. */
  let stopped: string | undefined
  let isAway = false
  let closed = false
  const look = (): void => {
    if (closed || isThere() !== isAway) return
    isAway = !isAway
    onError(isAway ? describeAway(path) : describeAgain(path))
  }
  return {
    look,
    isAway: () => isAway,
    why() {
      look()
      return stopped ?? (isAway ? describeAway(path) : undefined)
    },
    stop(why) {
      if (stopped === undefined) onError((stopped = describeHalted(path, why)))
      return stopped
    },
    close() {
      look()
      closed = true
    },
  }
}

function describeAgain(path: string): string {
  return `The store "${path}" takes records again.`
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
