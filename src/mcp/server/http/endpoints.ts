import type { ServerResponse } from 'node:http'
import type { GatewayConfiguration } from '../../../contract/mcp/serving.ts'
import type { Caller } from '../callers/caller.ts'
import { createClientServers, type OpenClientServer } from '../client-server.ts'
import { createPassthroughs } from '../passthrough/create-passthroughs.ts'
import type { ServedRuntime } from '../session/client-session.ts'
import { refuse } from '../web/send-json.ts'
import { createMcpEndpoint } from './mcp-endpoint.ts'

export interface EndpointOptions
  extends
    ServedRuntime,
    Pick<GatewayConfiguration, 'maxSessions' | 'sessionIdleMs' | 'sessionMs' | 'maxBodyBytes'> {}

type Endpoint = ReturnType<typeof createMcpEndpoint>

/** The MCP endpoints of an HTTP server. */
export interface Endpoints {
  /** The endpoint at `/mcp`, or at `/mcp/<server>` one for a server of the caller's tenant; undefined if the request was refused. */
  find(path: string, caller: Caller, response: ServerResponse): Endpoint | undefined
  /** Ends the sessions of callers that this does not hold for. */
  retain(isWelcome: (caller: Caller) => boolean): void
  /** Refuses requests, lets running calls end for a while, aborts the rest. */
  close(graceMs: number): Promise<void>
}

export function createEndpoints(options: EndpointOptions, log: (line: string) => void): Endpoints {
  const openEndpoint = (openClientServer: OpenClientServer): Endpoint =>
    createMcpEndpoint({
      openClientServer,
      maxSessions: options.maxSessions ?? 100,
      idleMs: options.sessionIdleMs ?? 1_800_000,
      maxAgeMs: options.sessionMs ?? 86_400_000,
      maxBodyBytes: options.maxBodyBytes ?? 4 * 1024 * 1024,
      log,
    })
  const governed = openEndpoint(createClientServers(options, log))
  /** By the name of the server that they show. */
  const passthroughs = new Map<string, Endpoint>()
  const all = (): Endpoint[] => [governed, ...passthroughs.values()]
  return {
    find(path, caller, response) {
      if (path === '/mcp') return governed
      const { servers } = options
      const names = servers?.serversOf(caller.session.tenant ?? 'local') ?? []
      const name = names.find((each) => path === `/mcp/${encodeURIComponent(each)}`)
      if (servers === undefined || name === undefined) {
        const there = names.length === 0 ? 'There are none.' : `There are: ${names.join(', ')}.`
        refuse(response, {
          status: 404,
          message: `There is no such MCP server. ${there}`,
          data: { servers: names },
        })
        return undefined
      }
      const found =
        passthroughs.get(name) ?? openEndpoint(createPassthroughs({ served: options, servers, name, log }))
      passthroughs.set(name, found)
      return found
    },
    retain(isWelcome) {
      for (const each of all()) each.retain(isWelcome)
    },
    async close(graceMs) {
      await Promise.all(all().map((each) => each.close(graceMs)))
    },
  }
}
