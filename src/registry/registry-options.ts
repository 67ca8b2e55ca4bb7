import type { Evidence } from '../contract/evidence-log.ts'
import type { DuplicatePolicy } from '../contract/registry.ts'
import type { SchemaChecker } from '../contract/base/schema.ts'
import type { Store } from '../contract/store.ts'
import type { RegistryReport } from './admission/prepare-registration.ts'
import type { RegistryNote } from './state/registry-note.ts'

/** What a registry is made from. */
export interface RegistryOptions {
  checker: SchemaChecker
  store: Store
  evidence: Evidence
  duplicates: DuplicatePolicy
  /** Patterns of tools that models are not shown until they are found. Default: none. */
  deferredTools?: readonly string[] | undefined
  /** What the host hands in, by name. */
  services: Readonly<Record<string, unknown>>
  /** Milliseconds since the epoch. */
  now: () => number
  onReport: (report: RegistryReport) => void
  /** Told of everything that happened to a tool, by this or another process, once it holds. */
  onNote: (note: RegistryNote) => void
  onError: (tool: string, cause: unknown) => void
  /** How long the `dispose` of a tool is waited for. Default 5,000 ms. */
  disposeTimeoutMs?: number
}
