import type { ServerConnections } from '../../../contract/mcp/direct-connection.ts'
import { anyCapability, createPassthroughs } from '../passthrough/create-passthroughs.ts'
import type { Era } from '../calls/call-dispatcher.ts'
import type { ServedRuntime } from '../session/client-session.ts'
import type { ClientServer } from '../client-server.ts'
import { logToPerson, serveStreams, type ServedStreams, type StdioServer } from './serve-streams.ts'

/** The one server that is shown, and on which streams. */
export interface PassthroughStdioOptions extends ServedRuntime, ServedStreams {
  readonly servers: ServerConnections
  /** As the operator named it. */
  readonly server: string
}

/** Shows one MCP server under its own names to the one client at the other end of the standard streams. */
export function servePassthroughStdio(options: PassthroughStdioOptions): StdioServer {
  const { servers, server: name, log = logToPerson, session = {} } = options
  const openClientServer = createPassthroughs({ served: options, servers, name, log })
  const clientServers = new Map<Era, Promise<ClientServer>>()
  const frontOf = (era: Era): Promise<ClientServer> => {
    const caller = { key: name, session, expiresAt: undefined }
    const clientServer =
      clientServers.get(era) ?? openClientServer({ caller, era, capabilities: anyCapability })
    clientServers.set(era, clientServer)
    // A server that could not be reached may be there when the client tries again.
    clientServer.catch(() => clientServers.delete(era))
    return clientServer
  }
  return serveStreams(options, {
    open: async (era) => (await frontOf(era)).build(era),
    async close() {
      const opened = await Promise.allSettled(clientServers.values())
      const open = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      await Promise.all(open.map((clientServer) => clientServer.close()))
    },
  })
}
