import type { Server } from '@modelcontextprotocol/server'
import type { Era } from '../calls/call-dispatcher.ts'
import { notifyChanges } from '../methods/notify-changes.ts'
import { createClientSession, type ServedRuntime } from '../session/client-session.ts'
import { createMcpServers } from '../methods/mcp-server.ts'
import { logToPerson, serveStreams, type ServedStreams, type StdioServer } from './serve-streams.ts'
import { createClientTasks } from '../tasks/client-tasks.ts'

/** What is served, and on which streams. */
export interface StdioOptions extends ServedRuntime, ServedStreams {}

/** Serves MCP to the one client at the other end of the standard streams, in the era that its first message names. */
export function serveStdio(options: StdioOptions): StdioServer {
  const { log = logToPerson } = options
  const client = createClientSession(options)
  const tasks = createClientTasks(log)
  const build = createMcpServers({ client, tasks, log })
  let stopNotifying = (): void => {}
  const open = (era: Era): Server => {
    const server = build(era)
    stopNotifying()
    if (era === 'modern') stopNotifying = notifyChanges(server, client.changes, log)
    return server
  }
  const close = (): Promise<void> => {
    tasks.close()
    return client.close()
  }
  return serveStreams(options, { open, close })
}
