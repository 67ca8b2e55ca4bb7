import type { JsonObject } from '../contract/base/json.ts'
import type { SideEffect } from '../contract/tool/tool.ts'
import type { ManifestSpec } from '../define/to-definition.ts'
import type { ToolFile } from './tool-file.ts'

/** What a declared tool may touch of files, and facts that its definition has beside those of the file. */
export interface ToolBounds {
  readonly read: readonly string[]
  readonly write: readonly string[]
  readonly facts: JsonObject
}

/** The manifest that a file stands for. `executable` is the name or the resolved path of its program. */
export function toManifest(file: ToolFile, executable: string, bounds?: ToolBounds): ManifestSpec {
  const { name, title, version, description, permission, hosts, secrets } = file
  const { compatibility, deprecations } = file
  const tags = [...new Set([...file.tags, ...(hosts.length > 0 ? ['network'] : [])])]
  const writes = permission === 'write'
  const { read, write, facts } = bounds ?? { read: ['*'], write: writes ? ['*'] : [], facts: {} }
  return {
    name,
    title,
    version,
    description,
    tags,
    metadata: { command: toCommandFacts(file), ...facts },
    permission,
    sideEffect: toSideEffect(permission, tags),
    scopes: toScopes(write.length > 0),
    capabilities: {
      fs: { read, write },
      tmp: write.includes('tmp'),
      net: { hosts },
      proc: { executables: [executable] },
      secrets,
    },
    limits: { ...(file.timeout_ms !== undefined && { timeoutMs: file.timeout_ms }), concurrency: 8 },
    idempotency: writes ? 'optional' : 'none',
    ...(compatibility !== undefined && { compatibility }),
    ...(deprecations !== undefined && { deprecations }),
    annotations: writes ? {} : { readOnlyHint: true },
  }
}

function toSideEffect(permission: ToolFile['permission'], tags: readonly string[]): SideEffect {
  if (permission === 'write') return 'process'
  return tags.includes('network') ? 'network' : 'read'
}

function toScopes(writes: boolean): ManifestSpec['scopes'] {
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
