import type { Readable, Writable } from 'node:stream'
import { serveStdio as serveConnection } from '@modelcontextprotocol/server/stdio'
import type { Server } from '@modelcontextprotocol/server'
import type { Era } from './call-desk.ts'
import { maxListeners } from './changes/serve-listen.ts'
import { tellChanges } from './changes/tell-changes.ts'
import { createClientSession, type ServedRuntime } from './client-session.ts'
import { createMcpServers } from './mcp-server.ts'
import { createStdioTransport } from './stdio-transport.ts'
import { createClientTasks } from './tasks/client-tasks.ts'

export interface StdioOptions extends ServedRuntime {
  /** Default the standard input. */
  readonly input?: Readable
  /** Default the standard output; it carries nothing but messages. */
  readonly output?: Writable
  /** Takes one line for a person. Default: the standard error output. */
  readonly log?: (line: string) => void
}

/** A running server. */
export interface StdioServer {
  /** Resolves when the client is gone and its session is closed. */
  readonly closed: Promise<void>
  /** Ends the connection and aborts what runs. */
  close(): Promise<void>
}

const maxLineLength = 4 * 1024 * 1024
const graceMs = 5_000

/** Serves MCP to the one client at the other end of the standard streams, in the era that its first message names. */
export function serveStdio(options: StdioOptions): StdioServer {
  const { input = process.stdin, output = process.stdout, log = (line) => console.error(line) } = options
  const client = createClientSession(options)
  const tasks = createClientTasks(log)
  const build = createMcpServers({ client, tasks, log })
  let stopTelling = (): void => {}
  const transport = createStdioTransport({ input, output, maxLineLength, graceMs })
  const open = (era: Era): Server => {
    const server = build(era)
    // Who only asked what there is gets another server for the rest.
    stopTelling()
    if (era === 'modern') stopTelling = tellChanges(server, client.changes, log)
    return server
  }
  const connection = serveConnection(({ era }) => open(era), {
    transport,
    maxSubscriptions: maxListeners,
    onerror: (error) => log(`mcp: ${error.message}`),
  })

  const gone = Promise.withResolvers<void>()
  const { onclose } = transport
  transport.onclose = () => {
    onclose?.()
    tasks.close()
    gone.resolve(client.close())
  }
  return {
    closed: gone.promise,
    async close() {
      await connection.close()
      await transport.close()
      await gone.promise
    },
  }
}
