import type { SandboxConfiguration } from '../../contract/configuration.ts'
import type { SandboxKind } from '../../contract/services/sandbox.ts'

/** What the machine is examined for. */
export interface ExaminedSetup {
  readonly project: string
  readonly home: string
  /** All of the environment that programs get, allow-listed already. */
  readonly env: Readonly<Record<string, string>>
  readonly kind: SandboxKind
  /** Whether any tool that runs programs names hosts. */
  readonly withHosts: boolean
  readonly isolation: Omit<SandboxConfiguration, 'kind'>
}
