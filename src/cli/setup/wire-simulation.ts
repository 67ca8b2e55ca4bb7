import { readDomains } from './open-domains.ts'
import { homedir } from 'node:os'
import { loadUpstreams } from '../../config/servers/load-upstreams.ts'
import type { Policy } from '../../contract/policy.ts'
import type { Runtime } from '../../contract/runtime.ts'
import type { Tool, ToolSource } from '../../contract/tool/tool.ts'
import { createRuntime } from '../../compose/create-runtime.ts'
import { mcpTools } from '../../compose/sources/mcp-tools.ts'
import type { RuntimeOptions } from '../../compose/options/runtime-options.ts'
import { toSourceName } from '../../mcp/upstream/base/tool-names.ts'
import { createSchemaChecker } from '../../schema/create-schema-checker.ts'
import { lookAtStore } from './look-at-store.ts'
import { wireOptions, type Places } from './wire.ts'

/**
 * What decides about calls that no caller makes: `wireOptions`, and the tools of MCP servers as they are remembered. No server is connected
 * to, and nothing is written. A policy that is given stands in the place of the person's own.
 */
export async function wireSimulation(places: Places, policy?: Policy): Promise<RuntimeOptions> {
  const options = wireOptions(places, policy)
  const { servers } = loadUpstreams(places.mcp, { checker: createSchemaChecker(), home: homedir() })
  if (servers.length === 0) return options
  const tenants = new Set(['local', ...servers.flatMap((server) => server.tenants ?? [])])
  const scopes = new Map(servers.map(({ name, tenants: own }) => [toSourceName(name), own]))
  const runtime = await createRuntime({
    ...options,
    // The runtime that decides tells the issues of these.
    tools: [],
    policy: {},
    projectConfiguration: {},
    disallowedTools: [],
    feeds: [mcpTools({ path: places.mcp, meet: false }), ...readDomains(places)],
    store: await lookAtStore(places.store),
  })
  try {
    return {
      ...options,
      tools: [...(options.tools ?? []), ...[...tenants].flatMap(toSources(runtime, scopes))],
    }
  } finally {
    await runtime.close()
  }
}

/** What the feed brought, each tool once. */
function toSources({ registry }: Runtime, scopes: Scopes): (tenant: string) => ToolSource[] {
  const taken = new Set<string>()
  return (tenant) =>
    registry
      .view(tenant)
      .list()
      .filter(({ source }) => /^(mcp|a2a)\./.test(source) || source === 'builtin.mcp')
      .filter(({ definition: { name } }) => !taken.has(name) && taken.add(name))
      .map(({ source, tool }) => toSource(source, tool, scopes.get(source)))
}

/** Which tenants have the tools of a source; undefined if all have. */
type Scopes = ReadonlyMap<string, readonly string[] | undefined>

function toSource(id: string, tool: Tool, tenants: readonly string[] | undefined): ToolSource {
  const kind = id.startsWith('mcp.') ? 'mcp' : id.startsWith('a2a.') ? 'a2a' : 'builtin'
  return { id, kind, recalled: true, ...(tenants !== undefined && { tenants }), list: () => [tool] }
}
