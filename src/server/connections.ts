import { randomUUID } from 'node:crypto'
import type { Server } from '@modelcontextprotocol/server'
import { createClientSession, type ClientSession, type ServedRuntime } from './client-session.ts'
import { createMcpServers } from './mcp-server.ts'
import { createSessionTransport, type SessionTransport } from './session-transport.ts'

export interface ConnectionOptions {
  readonly served: ServedRuntime
  /** At most so many; the one that was idle longest makes room for a new one. */
  readonly maxSessions: number
  /** A connection without requests and without an open stream ends after this many milliseconds. */
  readonly idleMs: number
  readonly log: (line: string) => void
}

/** A client that shook hands: its MCP session, and its session of the runtime. */
export interface Connection {
  readonly transport: SessionTransport
  readonly client: ClientSession
  readonly server: Server
  seenAt: number
}

/** The connected clients of a server. */
export interface Connections {
  /** Undefined where all are at work and there may be no more. */
  open(): Promise<Connection | undefined>
  /** By MCP session id; counts as a sign of life. */
  find(sessionId: string): Connection | undefined
  /** Aborts what runs, lets its answers out, forgets the session. */
  end(connection: Connection): Promise<void>
  close(): Promise<void>
}

/** How long the answers of aborted calls may take to reach their client. */
const flushMs = 500

export function createConnections({ served, maxSessions, idleMs, log }: ConnectionOptions): Connections {
  const open = new Map<string, Connection>()

  async function end({ transport, client, server }: Connection): Promise<void> {
    open.delete(transport.sessionId)
    await client.close()
    await transport.answered(flushMs)
    await server.close()
  }
  function drop(connection: Connection): void {
    end(connection).catch((error: unknown) => log(`mcp: a session could not be closed: ${String(error)}`))
  }
  function dropIdle(): void {
    const oldest = Date.now() - idleMs
    for (const connection of open.values()) {
      const { running, listening } = connection.transport
      if (connection.seenAt < oldest && running === 0 && !listening) drop(connection)
    }
  }
  function makeRoom(): boolean {
    if (open.size < maxSessions) return true
    const idle = [...open.values()].filter(({ transport }) => transport.running === 0)
    const [longest] = idle.sort((a, b) => a.seenAt - b.seenAt)
    if (longest !== undefined) drop(longest)
    return longest !== undefined
  }
  const sweep = setInterval(dropIdle, Math.max(50, Math.min(idleMs / 4, 60_000)))
  sweep.unref()

  return {
    async open() {
      if (!makeRoom()) return undefined
      const client = createClientSession(served)
      const server = createMcpServers(client, log)('legacy')
      const transport = createSessionTransport(randomUUID())
      const connection = { transport, client, server, seenAt: Date.now() }
      open.set(transport.sessionId, connection)
      await server.connect(transport)
      return connection
    },
    find(sessionId) {
      const connection = open.get(sessionId)
      if (connection !== undefined) connection.seenAt = Date.now()
      return connection
    },
    end,
    async close() {
      clearInterval(sweep)
      await Promise.all([...open.values()].map(end))
    },
  }
}
