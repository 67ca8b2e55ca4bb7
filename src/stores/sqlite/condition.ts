import { ToolFailure } from '../../contract/base/errors.ts'
import { createRounds } from '../../kit/time/create-rounds.ts'
import { Upgraded } from './base/data-version.ts'
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
  /** Reads what counts only if the tables are those that this program knows. */
  readonly reading: <T>(work: () => T) => T
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
  /** Throws `Upgraded` if a newer Handrail changed the tables. */
  checkTables: () => void
  /** Told when writes begin to fail, and when they go well again: while they fail, none may wait. */
  onFailing: (isFailing: boolean) => void
  /** Told why, when a store that took records takes none any more, and when it takes them again. */
  onError: (message: string) => void
}

const roundMs = 1000

/** A store that takes records. */
export function createCondition(options: ConditionOptions): Condition {
  const { path, probe, checkTables, onFailing, onError } = options
  const halt = createHalt(options)
  let failing: string | undefined

  const { refuse, toFailure, guarded, reading } = createGuards(options, halt)
  const worked = (): void => {
    if (failing === undefined) return
    failing = undefined
    onFailing(false)
    onError(describeAgain(path))
  }
  const rounds = createRounds(roundMs, () => {
    halt.look()
    guarded(checkTables)
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
      if (halt.isAway()) return 'it was deleted, moved or replaced'
      return findUpgrade(undefined, options) === undefined
        ? 'it is damaged, or was changed by something else'
        : 'a newer version upgraded it; this one has to be started again'
    },
    get refusal() {
      return refusal()
    },
    check() {
      const failure = refusal()
      if (failure !== undefined) throw failure
    },
    stop: (why) => void halt.stop(describeHalted(path, why)),
    notify: (message) => onError(`In the store "${path}": ${message}`),
    guarded,
    reading,
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

type Guards = Pick<Condition, 'guarded' | 'reading' | 'toFailure'> & {
  refuse: (message: string) => ToolFailure
}

/** What is reported while something is done becomes a failure of the caller, and may stop the store for good. */
function createGuards(options: ConditionOptions, halt: Halt): Guards {
  const { path, description, checkTables } = options
  const refuse = (message: string): ToolFailure =>
    new ToolFailure({ code: 'PROVIDER.UNAVAILABLE', reason: 'store_read_only', message })
  const toFailure = (error: unknown): ToolFailure => {
    if (error instanceof Tampered) return refuse(halt.stop(describeHalted(path, error.message)))
    const upgrade = findUpgrade(error, options)
    if (upgrade === undefined) return storeFailure(description, error)
    return refuse(halt.stop(describeUpgraded(path, upgrade)))
  }
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      throw toFailure(error)
    }
  }
  const reading = <T>(work: () => T): T =>
    guarded(() => {
      const found = work()
      // Behind it, as the tables may change between.
      checkTables()
      return found
    })
  return { refuse, toFailure, guarded, reading }
}

/** Why a store is only read: it does not hold, or its files are gone. */
interface Halt {
  /** Looks whether its files are there. */
  look(): void
  isAway(): boolean
  why(): string | undefined
  /** It takes none from here on, for this reason. Returns it, or the one before. */
  stop(message: string): string
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
    stop(message) {
      if (stopped === undefined) onError((stopped = message))
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

function describeUpgraded(path: string, { message }: Upgraded): string {
  return (
    `The store "${path}" takes no records and is not read: ${message}. Update Handrail here if it is older, and start it again. ` +
    'Nothing was lost.'
  )
}

/** Of an error that may come from it: a statement, too, fails over tables that have changed. */
function findUpgrade(error: unknown, { checkTables }: ConditionOptions): Upgraded | undefined {
  if (error instanceof Upgraded) return error
  if (error instanceof ToolFailure) return undefined
  try {
    checkTables()
    return undefined
  } catch (found) {
    return found instanceof Upgraded ? found : undefined
  }
}

function describeAway(path: string): string {
  return (
    `The store "${path}" takes no records: the file was deleted, moved or replaced while it was open. ` +
    'Put the same file back with its "-wal", or start Handrail again to go on with what is there now.'
  )
}
