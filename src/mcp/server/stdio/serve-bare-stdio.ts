import type { ServerLines } from '../../../contract/mcp/server-line.ts'
import { anyCapability, createBareFronts } from '../passthrough/bare-front.ts'
import type { Era } from '../calls/call-desk.ts'
import type { ServedRuntime } from '../session/client-session.ts'
import type { Front } from '../front.ts'
import { logToPerson, serveStreams, type ServedStreams, type StdioServer } from './serve-streams.ts'

/** The one server that is shown, and on which streams. */
export interface BareStdioOptions extends ServedRuntime, ServedStreams {
  readonly servers: ServerLines
  /** As the operator named it. */
  readonly server: string
}

/** Shows one MCP server under its own names to the one client at the other end of the standard streams. */
export function serveBareStdio(options: BareStdioOptions): StdioServer {
  const { servers, server: name, log = logToPerson, session = {} } = options
  const openFront = createBareFronts({ served: options, servers, name, log })
  const fronts = new Map<Era, Promise<Front>>()
  const frontOf = (era: Era): Promise<Front> => {
    const caller = { key: name, session, expiresAt: undefined }
    const front = fronts.get(era) ?? openFront({ caller, era, capabilities: anyCapability })
    fronts.set(era, front)
    // A server that could not be reached may be there when the client tries again.
    front.catch(() => fronts.delete(era))
    return front
  }
  return serveStreams(options, {
    open: async (era) => (await frontOf(era)).build(era),
    async close() {
      const opened = await Promise.allSettled(fronts.values())
      const open = opened.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
      await Promise.all(open.map((front) => front.close()))
    },
  })
}
