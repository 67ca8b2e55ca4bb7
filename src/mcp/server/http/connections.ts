import { randomUUID } from 'node:crypto'
import type { Server } from '@modelcontextprotocol/server'
import type { Caller } from '../callers/caller.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import { findSpare, isAwaited, madeRoom, type Spare } from './find-spare.ts'
import type { ClientServer, ConnectRequest, OpenClientServer } from '../client-server.ts'
import { closing, crowded, type Refusal } from '../web/send-json.ts'
import { createSessionTransport, type SessionTransport } from './session-transport.ts'
import { plainCallsOf } from '../session/task-server.ts'
import { startSweep } from '../session/start-sweep.ts'

export interface ConnectionOptions {
  /** What clients speak with. */
  readonly openClientServer: OpenClientServer
  /** At most so many, and half of them of one caller where callers are told apart. One that is idle makes room for a new one. */
  readonly maxSessions: number
  /** A connection without requests, tasks and an open stream ends after this many milliseconds. */
  readonly idleMs: number
  /** A connection ends after this many milliseconds in any case. */
  readonly maxAgeMs: number
  readonly log: (line: string) => void
}

/** A client that shook hands: its MCP session, and what it speaks with. */
export interface Connection {
  readonly transport: SessionTransport
  readonly clientServer: ClientServer
  readonly server: Server
  /** Who opened it. What they showed may be renewed with every request. */
  caller: Caller
  /** Milliseconds of a clock that is never set, as `seenAt`. */
  readonly openedAt: number
  seenAt: number
}

/** The connected clients of a server. */
export interface Connections {
  /** Refused where all are at work and there may be no more, and where it is closed meanwhile. */
  open(caller: Caller, capabilities: JsonObject): Promise<Connection | Refusal>
  /** By MCP session id; counts as a sign of life. There are none of other callers. */
  find(sessionId: string, caller: Caller): Connection | undefined
  /** Aborts what runs, lets its answers out, forgets the session. */
  end(connection: Connection): Promise<void>
  /** Resolves when no task runs. */
  tasksEnded(): Promise<void>
  /** Ends those of callers that this does not hold for. */
  retain(isWelcome: (caller: Caller) => boolean): void
  close(): Promise<void>
}

/** Whether a request waits for its answer, or a task runs. */
function isAtWork({ transport, clientServer }: Connection): boolean {
  return transport.running > 0 || (clientServer.tasks?.running ?? 0) > 0
}

const toSpare = (connection: Connection): Spare & { connection: Connection } => {
  const { caller, clientServer, seenAt } = connection
  return { caller: caller.key, clientServer, seenAt, isAtWork: isAtWork(connection), connection }
}

function mostOf({ isAnybody = false }: Caller, maxSessions: number): number {
  return isAnybody ? maxSessions : Math.ceil(maxSessions / 2)
}

/** Whether a connection is idle for too long, too old, or of a caller whose token expired. */
function isOutdated(connection: Connection, { idleMs, maxAgeMs }: ConnectionOptions): boolean {
  const now = performance.now()
  const { running, listening } = connection.transport
  const isUsed = running > 0 || listening || (connection.clientServer.tasks?.size ?? 0) > 0
  const isIdle = connection.seenAt < now - idleMs && !isUsed
  const { expiresAt = Infinity } = connection.caller
  return isIdle || connection.openedAt < now - maxAgeMs || expiresAt < Date.now()
}

/** A connection of a client that is yet to shake hands. */
function toConnection(clientServer: ClientServer, caller: Caller): Connection {
  const openedAt = performance.now()
  const server = clientServer.build('legacy')
  return {
    transport: createSessionTransport(randomUUID(), plainCallsOf(server)),
    clientServer,
    server,
    caller,
    openedAt,
    seenAt: openedAt,
  }
}

/** How long the answers of aborted calls may take to reach their client. */
const flushMs = 500

export function createConnections(options: ConnectionOptions): Connections {
  const { openClientServer, maxSessions, log } = options
  const open = new Map<string, Connection>()
  /** Callers whose sessions are being opened. */
  const opening: Caller[] = []
  let closed = false

  async function end({ transport, clientServer, server }: Connection): Promise<void> {
    open.delete(transport.sessionId)
    await clientServer.close()
    await transport.answered(flushMs)
    await server.close()
  }
  function drop(connection: Connection): void {
    end(connection).catch((error: unknown) => log(`mcp: a session could not be closed: ${String(error)}`))
  }
  function dropOutdated(): void {
    for (const connection of open.values()) if (isOutdated(connection, options)) drop(connection)
  }
  function makeRoom(caller: Caller): boolean {
    const isOwn = (other: Caller): boolean => other.key === caller.key
    const all = [...open.values()]
    const own = all.filter((connection) => isOwn(connection.caller))
    const isFull = open.size + opening.length >= maxSessions
    const hasMost = own.length + opening.filter(isOwn).length >= mostOf(caller, maxSessions)
    if (!isFull && !hasMost) return true
    const spare = findSpare((hasMost ? own : all).map(toSpare), caller.key)
    if (spare === undefined) return false
    if (isAwaited(spare)) log(madeRoom)
    drop(spare.connection)
    return true
  }
  async function openOne(connectRequest: ConnectRequest): Promise<ClientServer> {
    opening.push(connectRequest.caller)
    try {
      return await openClientServer(connectRequest)
    } finally {
      opening.splice(opening.indexOf(connectRequest.caller), 1)
    }
  }
  const stopSweep = startSweep(dropOutdated, options)

  return {
    async open(caller, capabilities) {
      if (!makeRoom(caller)) return crowded
      const clientServer = await openOne({ caller, era: 'legacy', capabilities })
      if (closed) {
        await clientServer.close()
        return closing
      }
      const connection = toConnection(clientServer, caller)
      open.set(connection.transport.sessionId, connection)
      await connection.server.connect(connection.transport)
      return connection
    },
    find(sessionId, caller) {
      const connection = open.get(sessionId)
      if (connection?.caller.key !== caller.key) return undefined
      if (connection.clientServer.isOver()) {
        drop(connection)
        return undefined
      }
      connection.seenAt = performance.now()
      connection.caller = caller
      return connection
    },
    end,
    async tasksEnded() {
      await Promise.all([...open.values()].map(async ({ clientServer }) => clientServer.tasks?.ended()))
    },
    retain(isWelcome) {
      for (const connection of open.values()) if (!isWelcome(connection.caller)) drop(connection)
    },
    async close() {
      closed = true
      stopSweep()
      await Promise.all([...open.values()].map(end))
    },
  }
}
