import type { JsonObject } from '../contract/base/json.ts'
import type { Safety, SideEffect, ToolDefinition } from '../contract/base/tool.ts'
import type { ToolFile } from './tool-file.ts'

/** The manifest that a file stands for. `executable` is the name or the resolved path of its program. */
export function toDefinition(file: ToolFile, executable: string): ToolDefinition {
  const { permission, hosts } = file
  const tags = [...new Set([...file.tags, ...(hosts.length > 0 ? ['network'] : [])])]
  const writes = permission === 'write'
  const safety = toSafety(permission, tags)
  return {
    name: file.name,
    title: file.title ?? file.name.slice(file.name.lastIndexOf('.') + 1),
    version: file.version,
    description: file.description,
    tags,
    metadata: { command: toCommandFacts(file) },
    inputSchema: file.input_schema,
    outputSchema: file.output_schema,
    permission,
    sideEffect: toSideEffect(permission, tags),
    safety,
    consent: { required: writes || safety === 'high' },
    scopes: toScopes(writes),
    capabilities: {
      fs: { read: ['*'], write: writes ? ['*'] : [] },
      net: { hosts },
      proc: { executables: [executable] },
      browser: false,
      tmp: false,
      secrets: file.secrets,
    },
    limits: {
      ...(file.timeout_ms !== undefined && { timeoutMs: file.timeout_ms }),
      maxBytesIn: 2_097_152,
      maxBytesOut: 8_388_608,
      maxFiles: 8,
      maxDepth: 4,
      concurrency: 8,
    },
    concurrency: 'parallel',
    idempotency: writes ? 'optional' : 'none',
    keyFrom: undefined,
    annotations: writes ? {} : { readOnlyHint: true },
    compatibility: { providers: [], models: [] },
    deprecations: [],
    longText: 'artifact',
    cost: 0,
    needs: ['files', 'commands'],
  }
}

function toSideEffect(permission: ToolFile['permission'], tags: readonly string[]): SideEffect {
  if (permission === 'write') return 'process'
  return tags.includes('network') ? 'network' : 'read'
}

function toSafety(permission: ToolFile['permission'], tags: readonly string[]): Safety {
  if (tags.includes('dangerous')) return 'high'
  return permission === 'write' || tags.includes('network') ? 'medium' : 'low'
}

function toScopes(writes: boolean): ToolDefinition['scopes'] {
  const actions = [
    { resource: 'handrail:exec:*', action: 'execute' },
    { resource: 'handrail:file:*', action: 'read' },
  ]
  return writes ? [...actions, { resource: 'handrail:file:*', action: 'write' }] : actions
}

/** How the command is run, so that a change of it is a change of the definition. */
function toCommandFacts(file: ToolFile): JsonObject {
  return {
    command_type: file.command_type,
    command: file.command,
    args: file.args.map((argument) => (typeof argument === 'string' ? argument : [...argument])),
    output: file.output,
    working_dir: file.working_dir,
    env_allowlist: [...file.env_allowlist],
    stdout_limit_bytes: file.stdout_limit_bytes,
    stderr_limit_bytes: file.stderr_limit_bytes,
  }
}
