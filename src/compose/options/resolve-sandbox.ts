import type { SandboxKind } from '../../contract/services/sandbox.ts'
import type { Configuration, SandboxConfiguration } from '../../contract/configuration.ts'

/** What isolates on this platform. */
const isolating = process.platform === 'darwin' ? 'sandbox-runtime' : 'bubblewrap'

/** What is chosen: the short form written out, with what isolates as the default kind. */
export function resolveSandbox(chosen: Configuration['sandbox']): {
  kind: SandboxKind
  isolation: Omit<SandboxConfiguration, 'kind'>
} {
  const { kind = isolating, ...isolation }: SandboxConfiguration =
    typeof chosen === 'string' ? { kind: chosen } : (chosen ?? {})
  return { kind, isolation }
}
