import type { Capabilities, Permission, SideEffect, ToolDefinition } from '../../../contract/base/tool.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
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
export function toDefinition({ name, rawName, said }: ImportedTool, server: UpstreamServer): ToolDefinition {
  const isReadonly = isOneOf(server.tools.readonly, rawName)
  const scopes = [{ resource: toolUrn(name), action: isReadonly ? 'read' : 'write' } as const]
  return { ...said, name, scopes, ...wordOf(server)[isReadonly ? 'readonly' : 'write'] }
}

type Word = Omit<ToolDefinition, keyof ImportedTool['said'] | 'name' | 'scopes'>

/** The same objects for all tools of a server, of which there may be thousands. */
const words = new WeakMap<UpstreamServer, { readonly [permission in Permission]: Word }>()

/** What the operator says of the tools of a server. */
function wordOf(server: UpstreamServer) {
  let word = words.get(server)
  if (word === undefined)
    words.set(server, (word = { readonly: toWord('readonly', server), write: toWord('write', server) }))
  return word
}

function toWord(permission: Permission, server: UpstreamServer): Word {
  return {
    version: '1.0.0',
    tags: [
      'mcp',
      ...(server.hosts.length > 0 ? ['network'] : []),
      ...(permission === 'readonly' ? ['readonly'] : []),
    ],
    permission,
    sideEffect: toSideEffect(permission, server),
    safety: 'medium',
    consent: { required: permission === 'write' },
    capabilities: toCapabilities(server),
    limits: {
      ...(server.timeoutMs !== undefined && { timeoutMs: server.timeoutMs }),
      maxBytesIn: 2 * mebibyte,
      maxBytesOut: 8 * mebibyte,
      maxFiles: 8,
      maxDepth: 4,
      concurrency: 64,
    },
    concurrency: 'parallel',
    idempotency: permission === 'write' ? 'optional' : 'none',
    keyFrom: undefined,
    compatibility: { providers: [], models: [] },
    deprecations: [],
    longText: 'artifact',
    cost: 0,
    needs: [],
  }
}

/** Where it reaches no host, all that is known is that it may change something. */
function toSideEffect(permission: Permission, { hosts }: UpstreamServer): SideEffect {
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

function toCapabilities({ hosts }: UpstreamServer): Capabilities {
  return {
    fs: { read: [], write: [] },
    net: { hosts },
    proc: { executables: [] },
    browser: false,
    tmp: false,
    secrets: [],
  }
}

const mebibyte = 1024 * 1024
