import type { CommandsConfiguration } from '../../../contract/configuration.ts'
import type { BuiltinManifest } from '../../define-builtin.ts'
import { outcomeSchema } from './show-outcome.ts'

const manifest = {
  permission: 'write',
  sideEffect: 'process',
  safety: 'high',
  consent: { required: true },
  scopes: [
    { resource: 'handrail:exec:*', action: 'execute' },
    { resource: 'handrail:file:*', action: 'read' },
    { resource: 'handrail:file:*', action: 'write' },
  ],
  limits: { timeoutMs: 600_000, concurrency: 8 },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  needs: ['files', 'commands', 'jobs'],
  outputSchema: {
    ...outcomeSchema,
    properties: {
      ...outcomeSchema.properties,
      job: { type: 'string', description: 'Of a command in the background: its id, and nothing else.' },
    },
    required: [],
  },
} as const satisfies Partial<BuiltinManifest>

/** What is true of every tool that runs commands. With hosts, it is a tool of the network too. */
export function commandManifest({ hosts = [], secrets = {} }: CommandsConfiguration) {
  return {
    ...manifest,
    tags: ['code', 'process', 'write', 'dangerous', ...(hosts.length > 0 ? ['network'] : [])],
    capabilities: {
      read: ['*'],
      write: ['*'],
      executables: ['*'],
      hosts,
      secrets: [...new Set(Object.values(secrets).flat())],
    },
  } satisfies Partial<BuiltinManifest>
}

/** Names of the secrets of a command: those of its program, called by the very name that they are declared for. */
export function secretsFor(
  [program = '']: readonly string[],
  { secrets = {} }: CommandsConfiguration,
): readonly string[] {
  return (Object.hasOwn(secrets, program) ? secrets[program] : undefined) ?? []
}
