import type { Caller } from '../callers/caller.ts'
import type { ConnectionOptions } from './connections.ts'
import { findSpare, isAwaited, madeRoom, type Spare } from './find-spare.ts'
import type { ClientServer } from '../client-server.ts'
import { crowded, type Refusal } from '../web/send-json.ts'
import { startSweep } from '../session/start-sweep.ts'

/** What the requests of one caller share where each of them stands alone. */
interface CallerSession {
  readonly caller: Caller
  /** Rejects where what it stands on cannot be reached. */
  readonly clientServer: Promise<ClientServer>
  /** As soon as it is there. */
  opened: ClientServer | undefined
  running: number
  /** Requests that stay open to hear of changes: they keep a session from being idle, not from being too old. */
  listening: number
  /** Milliseconds of a clock that is never set, as `openedAt`. */
  seenAt: number
  readonly openedAt: number
}

/** A caller whose request is at work. */
export interface ActiveSession {
  readonly build: ClientServer['build']
  /** Says that the request only listens. */
  listen(): void
  /** To be called when the request has ended. */
  leave(): void
}

/** Callers without connections, each with one session of the runtime. */
export interface CallerSessions {
  /** Refused where all are at work and there may be no more. */
  of(caller: Caller): Promise<ActiveSession | Refusal>
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
export function createCallerSessions(options: ConnectionOptions): CallerSessions {
  const { openClientServer, maxSessions, idleMs, maxAgeMs, log } = options
  const sessions = new Map<string, CallerSession>()

  const drop = (key: string, session: CallerSession): void => {
    sessions.delete(key)
    end(session).catch((error: unknown) => log(`mcp: a session could not be closed: ${String(error)}`))
  }
  const open = (caller: Caller): CallerSession => {
    const clientServer = openClientServer({ caller, era: 'modern', capabilities: {} })
    const openedAt = performance.now()
    return { caller, clientServer, opened: undefined, running: 0, listening: 0, seenAt: openedAt, openedAt }
  }
  const makeRoom = (caller: Caller): boolean => {
    if (sessions.size < maxSessions) return true
    const spare = findSpare([...sessions.values()].map(toSpare), caller.key)
    if (spare === undefined) return false
    if (isAwaited(spare)) log(madeRoom)
    drop(spare.caller, spare.session)
    return true
  }
  const dropOutdated = (): void => {
    const now = performance.now()
    for (const [key, session] of sessions) {
      const isUsed = session.listening > 0 || (session.opened?.tasks?.size ?? 0) > 0
      const isIdle = session.seenAt < now - idleMs && !isUsed
      const isOver = isIdle || session.openedAt < now - maxAgeMs
      // What a person allowed for the session is not to outlive it, but a call that runs is let end.
      if (isOver && !isAtWork(session)) drop(key, session)
    }
  }
  const stopSweep = startSweep(dropOutdated, options)

  const all: CallerSessions = {
    async of(caller) {
      let session = sessions.get(caller.key)
      if (session === undefined) {
        if (!makeRoom(caller)) return crowded
        session = open(caller)
        sessions.set(caller.key, session)
      }
      const present = session
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
      const clientServer = await present.clientServer.catch((error: unknown) => {
        leave()
        if (sessions.get(caller.key) === present) sessions.delete(caller.key)
        throw error
      })
      present.opened = clientServer
      if (!clientServer.isOver()) return { build: clientServer.build, listen, leave }
      leave()
      if (sessions.get(caller.key) === present) drop(caller.key, present)
      return all.of(caller)
    },
    endListening() {
      for (const { opened } of sessions.values()) opened?.client.changes.close()
    },
    async tasksEnded() {
      await Promise.all([...sessions.values()].map(async ({ opened }) => opened?.tasks?.ended()))
    },
    retain(isWelcome) {
      for (const [key, session] of sessions) if (!isWelcome(session.caller)) drop(key, session)
    },
    async close() {
      stopSweep()
      const closing = [...sessions.values()].map(end)
      sessions.clear()
      await Promise.all(closing)
    },
  }
  return all
}

/** Whether a request is at work, or a task runs. */
function isAtWork({ running, opened }: CallerSession): boolean {
  return running > 0 || (opened?.tasks?.running ?? 0) > 0
}

const toSpare = (session: CallerSession): Spare & { session: CallerSession } => {
  const { caller, opened: clientServer, seenAt } = session
  return { caller: caller.key, clientServer, seenAt, isAtWork: isAtWork(session), session }
}

/** One that never came about needs no end. */
async function end({ clientServer }: CallerSession): Promise<void> {
  const opened = await clientServer.catch(() => undefined)
  await opened?.close()
}
