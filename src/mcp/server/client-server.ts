import type { Server } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../contract/base/json.ts'
import type { Caller } from './callers/caller.ts'
import type { Era } from './calls/call-dispatcher.ts'
import { createClientSession, type ClientSession, type ServedRuntime } from './session/client-session.ts'
import { createMcpServers } from './methods/mcp-server.ts'
import { createClientTasks, type ClientTasks } from './tasks/client-tasks.ts'

/** What a client speaks with: its session of the runtime, and SDK servers in front of that. */
export interface ClientServer {
  readonly client: ClientSession
  /** Undefined if calls do not become tasks. */
  readonly tasks?: ClientTasks
  /** One for a connection, or one for each request where requests stand alone. */
  readonly build: (era: Era) => Server
  /** Whether what it stands on is no more, so that the client has to begin anew. */
  isOver(): boolean
  /** Aborts what runs and forgets the session. */
  close(): Promise<void>
}

/** Who a client server is opened for. */
export interface ConnectRequest {
  readonly caller: Caller
  readonly era: Era
  /** What the client said of itself when it shook hands. */
  readonly capabilities: JsonObject
}

/** Opens a client server. Rejects with a `ToolFailure` where what it stands on cannot be reached. */
export type OpenClientServer = (connectRequest: ConnectRequest) => Promise<ClientServer>

/** Client servers that show all tools. */
export function createClientServers(served: ServedRuntime, log: (line: string) => void): OpenClientServer {
  return async ({ caller, era }) => {
    const client = createClientSession({ ...served, session: caller.session, alone: era === 'modern' })
    const tasks = createClientTasks(log)
    const build = createMcpServers({ client, tasks, log })
    return {
      client,
      tasks,
      build,
      isOver: () => false,
      async close() {
        tasks.close()
        await client.close()
      },
    }
  }
}
