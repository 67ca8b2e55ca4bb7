import type { Server } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { ServerConnections } from '../../../contract/mcp/direct-connection.ts'
import { createPassthroughServers, describeUnsent } from './passthrough-server.ts'
import { createClientSession, type ServedRuntime } from '../session/client-session.ts'
import type { OpenClientServer } from '../client-server.ts'

/** What client servers of one server stand on. */
export interface PassthroughOptions {
  readonly served: ServedRuntime
  readonly servers: ServerConnections
  /** As the operator named it. */
  readonly name: string
  readonly log: (line: string) => void
}

/** For a client that did not say yet what it can do: it may be asked for anything, and what it cannot do is declined for it. */
export const anyCapability: JsonObject = { elicitation: {}, sampling: {}, roots: {} }

/** Client servers that show one server under its own names. Each has a connection to it of its own. */
export function createPassthroughs({ served, servers, name, log }: PassthroughOptions): OpenClientServer {
  return async ({ caller, era, capabilities }) => {
    let stream: Server | undefined
    const client = createClientSession({ ...served, session: caller.session, alone: era === 'modern' })
    const connection = servers.openDirectConnection(name, {
      tenant: caller.session.tenant ?? 'local',
      actor: caller.session.actor ?? 'user',
      era,
      // A client says it with each request.
      capabilities: era === 'modern' ? anyCapability : capabilities,
      notify(method, params) {
        const sent = stream?.notification({ method, params })
        sent?.catch((error: unknown) => log(describeUnsent(method, name, error)))
      },
    })
    try {
      const build = createPassthroughServers({
        client,
        connection,
        initialized: await connection.initialize(),
        log,
      })
      return {
        client,
        build(of) {
          const server = build(of)
          if (of === 'legacy') stream = server
          return server
        },
        isOver: () => connection.isClosed(),
        async close() {
          await client.close()
          await connection.close()
        },
      }
    } catch (error) {
      await connection.close()
      await client.close()
      throw error
    }
  }
}
