import type { McpServerState } from '../../compose/sources/mcp-tools.ts'
import { endpoint, type Endpoint } from '../base/endpoint.ts'
import { everyTenant } from '../../contract/mcp/console-login.ts'
import { sees, type Visitor } from '../base/roles.ts'
import { faultyEntry, serverRow, type ServerRow } from './server-row.ts'

const list = endpoint({
  method: 'GET',
  path: '/api/servers',
  summary: 'The MCP servers whose tools are imported, and where each stands. Connects to none.',
  role: 'viewer',
  reach: 'each',
  answer: {
    type: 'object',
    properties: {
      servers: { type: 'array', items: serverRow },
      faulty: {
        type: 'array',
        items: faultyEntry,
        description: 'Entries of mcp.json that are left out. Who sees one tenant only is not told.',
      },
      notices: { type: 'array', items: { type: 'string' }, description: 'As `faulty`, with nothing wrong.' },
      isBehind: {
        type: 'boolean',
        description: 'Whether mcp.json says by now what is still to be taken over.',
      },
    },
    required: ['servers', 'faulty', 'notices', 'isBehind'],
  },
  run({ visitor, tenants, parts: { runtime, servers } }) {
    const { servers: all, faulty, notices } = servers.describe()
    const isForAll = sees(visitor, everyTenant)
    const own = new Set(tenants.flatMap((tenant) => servers.serversOf(tenant)))
    const shown = all.filter(({ server }) => isForAll || own.has(server))
    const waiting = new Set(runtime.registry.pending().map(({ tool }) => tool))
    return {
      servers: shown.map((state) => toServerRow(state, visitor, waiting)),
      faulty: isForAll
        ? faulty.map(({ server, issues }) => ({
            server,
            messages: issues.map(({ pointer, message }) =>
              pointer === '' ? message : `${pointer}: ${message}`,
            ),
          }))
        : [],
      notices: isForAll ? [...notices] : [],
      isBehind: servers.isBehind(),
    }
  },
})

/** `waiting` are the tools whose definition waits for approval. */
function toServerRow(state: McpServerState, to: Visitor, waiting: ReadonlySet<string>): ServerRow {
  const { server, source, tenant, fault, remedy, revision, log } = state
  const held = state.tools.filter((tool) => waiting.has(tool))
  const tools = [...state.tools]
  // What stands here was said on the way of this tenant to the server; another one has a way of its own.
  if (!sees(to, tenant))
    return { server, source, state: 'shared', tools, held, leftOut: [], wantsLogin: false }
  return {
    server,
    source,
    state: state.state === 'connecting' && fault !== undefined ? 'failed' : state.state,
    tools,
    held,
    leftOut: state.faulty.map(({ tool, message }) => ({ tool, message })),
    tenant,
    wantsLogin: state.wantsLogin,
    ...(revision !== undefined && { revision }),
    ...(fault !== undefined && { fault }),
    ...(remedy !== undefined && { remedy }),
    ...(log !== '' && { log }),
  }
}

export const serverEndpoints: readonly Endpoint[] = [list]
