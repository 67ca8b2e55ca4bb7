import type { Server } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { ServerLines } from '../../../contract/mcp/server-line.ts'
import { createBareServers } from './bare-server.ts'
import { createClientSession, type ServedRuntime } from '../session/client-session.ts'
import type { OpenFront } from '../front.ts'
import { provide, type Passenger } from '../calls/provide.ts'

/** What fronts of one server stand on. */
export interface BareOptions {
  readonly served: ServedRuntime
  readonly servers: ServerLines
  /** As the operator named it. */
  readonly name: string
  readonly log: (line: string) => void
}

/** For a client that did not say yet what it can do: it may be asked for anything, and what it cannot do is declined for it. */
export const anyCapability: JsonObject = { elicitation: {}, sampling: {}, roots: {} }

/** Fronts that show one server under its own names. Each has a connection to it of its own. */
export function createBareFronts({ served, servers, name, log }: BareOptions): OpenFront {
  return async ({ caller, era, capabilities }) => {
    const passengers = new Set<Passenger>()
    let standing: Server | undefined
    /** Whose call it is that the server speaks of; it says of none. Where requests stand alone, several may be of several clients. */
    const findPassenger = (): Passenger | undefined =>
      era === 'modern' && passengers.size > 1 ? undefined : [...passengers].at(-1)
    const client = createClientSession({ ...served, session: caller.session, alone: era === 'modern' })
    const line = servers.openLine(name, {
      tenant: caller.session.tenant ?? 'local',
      era,
      // A client says it with each request.
      capabilities: era === 'modern' ? anyCapability : capabilities,
      notify: (method, params) => {
        const told = tell({ method, params }, { passenger: findPassenger(), standing })
        told.catch((error: unknown) =>
          log(`mcp: "${method}" of "${name}" could not be told: ${String(error)}`),
        )
      },
      async answer(method, params, signal) {
        const passenger = findPassenger()
        if (passenger === undefined) throw new Error('There is no one call that this could belong to.')
        const given = await provide(passenger, {
          from: `MCP server "${name}"`,
          requests: { asked: { method, params } },
          signal,
        })
        return Object(given['asked'])
      },
    })
    try {
      const build = createBareServers({ client, line, greeting: await line.greet(), passengers, log })
      return {
        client,
        build(of) {
          const server = build(of)
          if (of === 'legacy') standing = server
          return server
        },
        isOver: () => line.isClosed(),
        async close() {
          await client.close()
          await line.close()
        },
      }
    } catch (error) {
      await line.close()
      await client.close()
      throw error
    }
  }
}

/** What belongs to a request goes with it; what belongs to the session goes on its stream. */
async function tell(
  said: { method: string; params: JsonObject },
  { passenger, standing }: { passenger: Passenger | undefined; standing: Server | undefined },
): Promise<void> {
  if (said.method === 'notifications/message' && passenger !== undefined)
    return passenger.context.mcpReq.notify(said)
  await standing?.notification(said)
}
