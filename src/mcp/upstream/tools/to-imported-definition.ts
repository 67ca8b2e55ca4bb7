import type { Permission, SideEffect, ToolDefinition } from '../../../contract/tool/tool.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import { toDefinition } from '../../../define/to-definition.ts'
import { matchPattern } from '../../../kit/match/match-pattern.ts'
import { toolUrn } from '../../../kit/match/urn.ts'
import { factsKey, type ImportedTool } from '../base/import-tool.ts'

/**
 * What of a definition a server writes: all that clients and people go by, also where what is shown of it looks the same. All else is the
 * operator's word, and holds as soon as the operator says it.
 */
export const fieldsOfServers = [
  'title',
  'description',
  'annotations',
  'inputSchema',
  'outputSchema',
  `metadata.${factsKey}.seen`,
] as const

/** The manifest of an imported tool: what the server says of it, within what the operator says. A hint of the server permits nothing. */
export function toImportedDefinition(
  { name, rawName, fields }: ImportedTool,
  server: UpstreamServer,
): ToolDefinition {
  const isReadonly = isOneOf(server.tools.readonly, rawName)
  const scopes = [{ resource: toolUrn(name), action: isReadonly ? 'read' : 'write' } as const]
  return { ...wordOf(server)[isReadonly ? 'readonly' : 'write'], ...fields, name, scopes }
}

/** The same objects for all tools of a server, of which there may be thousands. */
const words = new WeakMap<UpstreamServer, { readonly [permission in Permission]: ToolDefinition }>()

/** What the operator says of the tools of a server. */
function wordOf(server: UpstreamServer) {
  let word = words.get(server)
  if (word === undefined)
    words.set(server, (word = { readonly: toWord('readonly', server), write: toWord('write', server) }))
  return word
}

/** The manifest of a tool of which the server says nothing. */
function toWord(permission: Permission, { name, hosts, timeoutMs }: UpstreamServer): ToolDefinition {
  return toDefinition(
    {
      name,
      description: '',
      tags: [
        'mcp',
        ...(hosts.length > 0 ? ['network'] : []),
        ...(permission === 'readonly' ? ['readonly'] : []),
      ],
      permission,
      sideEffect: toSideEffect(permission, hosts),
      safety: 'medium',
      capabilities: { net: { hosts } },
      limits: { ...(timeoutMs !== undefined && { timeoutMs }) },
      idempotency: permission === 'write' ? 'optional' : 'none',
    },
    { input: { type: 'object' }, output: undefined, needs: [] },
  )
}

/** Where it reaches no host, all that is known is that it may change something. */
function toSideEffect(permission: Permission, hosts: readonly string[]): SideEffect {
  if (hosts.length > 0) return 'network'
  return permission === 'write' ? 'write' : 'read'
}

/** Whether the operator lets a tool of this name be imported. */
export function isWanted({ tools }: UpstreamServer, rawName: string): boolean {
  return isOneOf(tools.allow, rawName) && !isOneOf(tools.deny, rawName)
}

function isOneOf(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => matchPattern(pattern, name))
}
