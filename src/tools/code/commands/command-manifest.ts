import type { CommandsConfiguration } from '../../../contract/configuration.ts'
import type { CommonSpec, ServiceName } from '../../../define/tool-spec.ts'
import { runScopes, writesAnywhere } from '../base/fields.ts'
import { outcomeSchema } from './show-outcome.ts'

const manifest = {
  permission: 'write',
  sideEffect: 'process',
  scopes: runScopes,
  limits: { timeoutMs: 600_000, concurrency: 8 },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  needs: ['files', 'commands', 'jobs'],
  output: {
    ...outcomeSchema,
    properties: {
      ...outcomeSchema.properties,
      job: { type: 'string', description: 'Of a command in the background: its id, and nothing else.' },
    },
    required: [],
  },
} as const satisfies Partial<CommonSpec<ServiceName>>

/** What is true of every tool that runs commands. With hosts, it is a tool of the network too. */
export function commandManifest({ hosts = [], secrets = {} }: CommandsConfiguration) {
  return {
    ...manifest,
    tags: ['code', 'process', 'write', 'dangerous', ...(hosts.length > 0 ? ['network'] : [])],
    capabilities: {
      ...writesAnywhere,
      proc: { executables: ['*'] },
      net: { hosts },
      secrets: [...new Set(Object.values(secrets).flat())],
    },
  } satisfies Partial<CommonSpec<ServiceName>>
}

/** Names of the secrets of a command: those of its program, called by the very name that they are declared for. */
export function secretsFor(
  [program = '']: readonly string[],
  { secrets = {} }: CommandsConfiguration,
): readonly string[] {
  return (Object.hasOwn(secrets, program) ? secrets[program] : undefined) ?? []
}
