import type { Readable, Writable } from 'node:stream'
import type { Server } from '@modelcontextprotocol/server'
import { serveStdio as serveConnection } from '@modelcontextprotocol/server/stdio'
import type { Era } from '../calls/call-dispatcher.ts'
import type { PlainCalls } from '../calls/plain-calls.ts'
import { maxListeners } from '../methods/serve-listen.ts'
import { plainCallsOf } from '../session/task-server.ts'
import { createStdioTransport } from './stdio-transport.ts'

/** The streams that a client is at the other end of. */
export interface ServedStreams {
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

/** What a client on streams speaks with. */
export interface StreamFront {
  /** A server for the era that its messages name. Who only asked what there is gets another one for the rest. */
  readonly open: (era: Era) => Server | Promise<Server>
  /** The client is gone. */
  readonly close: () => Promise<void>
}

const maxLineLength = 4 * 1024 * 1024
const graceMs = 5_000

/** Where a line for a person goes unless it is said. */
export const logToPerson = (line: string): void => console.error(line)

/** Speaks MCP with the one client at the other end of these streams. */
export function serveStreams(
  { input = process.stdin, output = process.stdout, log = logToPerson }: ServedStreams,
  { open, close }: StreamFront,
): StdioServer {
  let plainCalls: PlainCalls | undefined
  const transport = createStdioTransport({
    input,
    output,
    maxLineLength,
    graceMs,
    plainCalls: () => plainCalls,
  })
  const openServer = async (era: Era): Promise<Server> => {
    const server = await open(era)
    plainCalls = plainCallsOf(server)
    return server
  }
  const connection = serveConnection(({ era }) => openServer(era), {
    transport,
    maxSubscriptions: maxListeners,
    onerror: (error) => log(`mcp: ${error.message}`),
  })

  const gone = Promise.withResolvers<void>()
  const { onclose } = transport
  transport.onclose = () => {
    onclose?.()
    gone.resolve(close())
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
