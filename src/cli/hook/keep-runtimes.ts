import type { Runtime } from '../../contract/runtime.ts'
import { describeSetup } from '../setup/describe-setup.ts'
import type { Places } from '../setup/wire.ts'
import { wireHook, type WithRuntime } from './with-own-runtime.ts'

/** Runtimes that hooks or calls share, one after the other or at the same time. */
export interface KeptRuntimes {
  readonly withRuntime: WithRuntime
  /** Closes all of them, each once what runs with it has ended. */
  close(): Promise<void>
}

/** One is made anew after so long, whatever its files say: they may name folders that are other ones by now. */
const longestMs = 60_000

/** Most that are kept at a time. */
const most = 8

/** How runtimes are made, and what says that one is as good as a new one. */
export interface KeepingOptions {
  /** Gets what goes wrong when one is closed. */
  tell(this: void, error: unknown): void
  /** Default: that of a hook. */
  wire?(this: void, places: Places): Promise<Runtime>
  /** Another text if a runtime of now would be another one. Default: `describeSetup`. */
  describe?(this: void, places: Places): string
  /** Whether one is still as it was made, before and after it is used. Default: it is. */
  isAsMade?(this: void, runtime: Runtime): boolean
}

interface Kept {
  readonly runtime: Promise<Runtime>
  readonly timer: NodeJS.Timeout
  /** What runs with it. */
  users: number
  /** Resolves once it is closed; undefined as long as it is kept. */
  closed: PromiseWithResolvers<void> | undefined
}

/**
 * Keeps the runtime of a hook or a call for the next one, for as long as every file that it is made of says what it said: what is changed there counts
 * from the next one on.
 */
export function keepRuntimes({
  tell,
  wire = wireHook,
  describe = describeSetup,
  isAsMade = () => true,
}: KeepingOptions): KeptRuntimes {
  const kept = new Map<string, Kept>()
  const closing = new Set<Promise<void>>()
  let isClosed = false
  const closeUnused = (one: Kept): void => closeIfUnused(one, tell)
  const retire = (setup: string, one: Kept): void => {
    if (kept.get(setup) === one) kept.delete(setup)
    if (one.closed !== undefined) return
    clearTimeout(one.timer)
    one.closed = Promise.withResolvers()
    const { promise } = one.closed
    closing.add(promise)
    void promise.then(() => closing.delete(promise))
  }
  const drop = (setup: string, one: Kept): void => {
    retire(setup, one)
    closeUnused(one)
  }
  const isStill = ({ runtime }: Kept): Promise<boolean> => runtime.then(isAsMade, () => false)
  /** Whether one that is kept is as it was made, and is not closed before it is left. */
  const take = async (setup: string, one: Kept): Promise<boolean> => {
    one.users++
    if ((await isStill(one)) && one.closed === undefined) return true
    retire(setup, one)
    leave(one)
    return false
  }
  const leave = (one: Kept): void => {
    one.users--
    closeUnused(one)
  }
  const open = (places: Places, setup: string): Kept => {
    const one: Kept = {
      runtime: wire(places),
      timer: setTimeout(() => drop(setup, one), longestMs).unref(),
      users: 1,
      closed: undefined,
    }
    kept.set(setup, one)
    const [oldest] = kept
    if (kept.size > most && oldest !== undefined) drop(...oldest)
    return one
  }
  return {
    async withRuntime(places, run) {
      const setup = describe(places)
      let found = kept.get(setup)
      // Another one may have been made while one was looked at.
      while (found !== undefined && !(await take(setup, found))) found = kept.get(setup)
      const one = found ?? open(places, setup)
      try {
        const runtime = await one.runtime
        // A file that was changed meanwhile may have been read before or after that.
        if (isClosed || (found === undefined && describe(places) !== setup)) retire(setup, one)
        const result = await run(runtime)
        if (!isAsMade(runtime)) retire(setup, one)
        return result
      } catch (error) {
        retire(setup, one)
        throw error
      } finally {
        leave(one)
      }
    },
    async close() {
      isClosed = true
      for (const [setup, one] of kept) drop(setup, one)
      await Promise.all(closing)
    },
  }
}

/** Closes one that is not kept any more, unless something runs with it. `tell` gets what goes wrong. */
function closeIfUnused({ closed, runtime, users }: Kept, tell: KeepingOptions['tell']): void {
  if (closed === undefined || users > 0) return
  void runtime
    .then(
      (each) => each.close(),
      () => {},
    )
    .catch(tell)
    .finally(closed.resolve)
}
