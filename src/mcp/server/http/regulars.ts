import type { Caller } from '../callers/caller.ts'
import type { ConnectionOptions } from './connections.ts'
import { findSpare, isAwaited, madeRoom, type Spare } from './find-spare.ts'
import type { Front } from '../front.ts'
import { crowded, type Refusal } from '../web/send-json.ts'
import { startSweep } from '../session/start-sweep.ts'

/** What the requests of one caller share where each of them stands alone. */
interface Regular {
  readonly caller: Caller
  /** Rejects where what it stands on cannot be reached. */
  readonly front: Promise<Front>
  /** As soon as it is there. */
  opened: Front | undefined
  running: number
  /** Requests that stay open to hear of changes: they keep a session from being idle, not from being too old. */
  listening: number
  /** Milliseconds of a clock that is never set, as `openedAt`. */
  seenAt: number
  readonly openedAt: number
}

/** A caller whose request is at work. */
export interface PresentRegular {
  readonly build: Front['build']
  /** Says that the request only listens. */
  listen(): void
  /** To be called when the request has ended. */
  leave(): void
}

/** Callers without connections, each with one session of the runtime. */
export interface Regulars {
  /** Refused where all are at work and there may be no more. */
  of(caller: Caller): Promise<PresentRegular | Refusal>
  /** Ends the requests that only listen. */
  endListening(): void
  /** Resolves when no task runs. */
  tasksEnded(): Promise<void>
  /** Ends those of callers that this does not hold for. */
  retain(isWelcome: (caller: Caller) => boolean): void
  /** Aborts what runs and forgets the sessions. */
  close(): Promise<void>
}

/** Opens a session with a caller's first request, and forgets it when nothing happened for long, or when it is too old. */
export function createRegulars(options: ConnectionOptions): Regulars {
  const { openFront, maxSessions, idleMs, maxAgeMs, log } = options
  const regulars = new Map<string, Regular>()

  const drop = (key: string, { front }: Regular): void => {
    regulars.delete(key)
    closeFront(front).catch((error: unknown) => log(`mcp: a session could not be closed: ${String(error)}`))
  }
  const open = (caller: Caller): Regular => {
    const front = openFront({ caller, era: 'modern', capabilities: {} })
    const openedAt = performance.now()
    return { caller, front, opened: undefined, running: 0, listening: 0, seenAt: openedAt, openedAt }
  }
  const makeRoom = (caller: Caller): boolean => {
    if (regulars.size < maxSessions) return true
    const spare = findSpare([...regulars.values()].map(toSpare), caller.key)
    if (spare === undefined) return false
    if (isAwaited(spare)) log(madeRoom)
    drop(spare.caller, spare.regular)
    return true
  }
  const dropOutdated = (): void => {
    const now = performance.now()
    for (const [key, regular] of regulars) {
      const isUsed = regular.listening > 0 || (regular.opened?.tasks?.size ?? 0) > 0
      const isIdle = regular.seenAt < now - idleMs && !isUsed
      const isOver = isIdle || regular.openedAt < now - maxAgeMs
      // What a person allowed for the session is not to outlive it, but a call that runs is let end.
      if (isOver && !isAtWork(regular)) drop(key, regular)
    }
  }
  const stopSweep = startSweep(dropOutdated, options)

  const all: Regulars = {
    async of(caller) {
      let regular = regulars.get(caller.key)
      if (regular === undefined) {
        if (!makeRoom(caller)) return crowded
        regular = open(caller)
        regulars.set(caller.key, regular)
      }
      const present = regular
      let as: 'running' | 'listening' = 'running'
      const leave = (): void => {
        present[as]--
        present.seenAt = performance.now()
      }
      const listen = (): void => {
        present.running--
        present[(as = 'listening')]++
      }
      present.running++
      const front = await present.front.catch((error: unknown) => {
        leave()
        if (regulars.get(caller.key) === present) regulars.delete(caller.key)
        throw error
      })
      present.opened = front
      if (!front.isOver()) return { build: front.build, listen, leave }
      leave()
      if (regulars.get(caller.key) === present) drop(caller.key, present)
      return all.of(caller)
    },
    endListening() {
      for (const { opened } of regulars.values()) opened?.client.changes.close()
    },
    async tasksEnded() {
      await Promise.all([...regulars.values()].map(async ({ opened }) => opened?.tasks?.ended()))
    },
    retain(isWelcome) {
      for (const [key, regular] of regulars) if (!isWelcome(regular.caller)) drop(key, regular)
    },
    async close() {
      stopSweep()
      const closing = [...regulars.values()].map(({ front }) => closeFront(front))
      regulars.clear()
      await Promise.all(closing)
    },
  }
  return all
}

/** Whether a request is at work, or a task runs. */
function isAtWork({ running, opened }: Regular): boolean {
  return running > 0 || (opened?.tasks?.running ?? 0) > 0
}

const toSpare = (regular: Regular): Spare & { regular: Regular } => {
  const { caller, opened: front, seenAt } = regular
  return { caller: caller.key, front, seenAt, isAtWork: isAtWork(regular), regular }
}

/** One that never came about needs no end. */
async function closeFront(front: Promise<Front>): Promise<void> {
  const opened = await front.catch(() => undefined)
  await opened?.close()
}
