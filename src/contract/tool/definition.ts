import type { JsonObject } from '../base/json.ts'
import type { JsonSchema } from '../base/schema.ts'

export type Permission = 'readonly' | 'write'
export type SideEffect = 'none' | 'read' | 'write' | 'network' | 'filesystem' | 'browser' | 'process'
export type Safety = 'low' | 'medium' | 'high'

/**
 * What a tool needs at most. Roots are absolute paths, `project`, `tmp`, or `*` for every root that
 * the session and the policy allow. Hosts and executables are patterns. What is not named is not there.
 */
export interface Capabilities {
  fs: { read: readonly string[]; write: readonly string[] }
  net: { hosts: readonly string[] }
  proc: { executables: readonly string[] }
  /** Whether the tool gets the service `browser` of the host. */
  browser: boolean
  /** Whether it may write to the machine's folder for temporary files, where the operator made that a root. */
  tmp: boolean
  /** Names of secrets that the host hands to this tool. */
  secrets: readonly string[]
}

/** Upper bounds of one call of the tool. */
export interface Limits {
  /** Absent: the default of the runtime. */
  timeoutMs?: number
  maxBytesIn: number
  maxBytesOut: number
  /** Files that one call reads, writes or is told of by a search, each once; also those that its plan names. */
  maxFiles: number
  /** How many folders deep its listings, searches and trees go. */
  maxDepth: number
  concurrency: number
}

/** A required consent: for how long it holds and how far it reaches. */
export interface ConsentPolicy {
  required: boolean
  validForMs?: number
  scope?: 'once' | 'session'
  /**
   * Only a person says yes, to each call anew: no rule, mode, consent or yes for the session answers for them. It needs `required` and the scope
   * `once`. Default false.
   */
  personOnly?: boolean
}

/** Hints for clients, as MCP defines them. Only what is set is shown. */
export interface Annotations {
  readOnlyHint?: boolean
  destructiveHint?: boolean
  idempotentHint?: boolean
  openWorldHint?: boolean
}

/** A replaced version or field, with advice for those who still use it. */
export interface Deprecation {
  what: string
  since: string
  advice: string
}

/** Which models or providers a tool works with: name patterns; an empty list means all. */
export interface Compatibility {
  providers: readonly string[]
  models: readonly string[]
}

/** The manifest of a tool, all defaults filled in. Frozen once registered. */
export interface ToolDefinition {
  readonly name: string
  readonly title: string
  readonly version: string
  readonly description: string
  readonly tags: readonly string[]
  readonly metadata: JsonObject
  readonly inputSchema: JsonSchema
  readonly outputSchema: JsonSchema | undefined
  readonly permission: Permission
  readonly sideEffect: SideEffect
  readonly safety: Safety
  readonly consent: ConsentPolicy
  readonly scopes: readonly { resource: string; action: string }[]
  readonly capabilities: Capabilities
  readonly limits: Limits
  readonly concurrency: 'parallel' | 'serial'
  /** Whether a call runs once for its idempotency key: `keyed` wants one, `optional` takes one, `none` refuses one. */
  readonly idempotency: 'keyed' | 'optional' | 'none'
  /** Where the key of a keyed tool comes from: the call, or a required input field (an RFC 6901 pointer). */
  readonly keyFrom: string | undefined
  readonly annotations: Annotations
  readonly compatibility: Compatibility
  readonly deprecations: readonly Deprecation[]
  /** Where text of a result goes that is longer than the runtime shows: to an artifact, or, where it exists elsewhere, with the result. */
  readonly longText: 'artifact' | 'inline'
  /** What one call costs against budgets of the unit `cost`. Default 0. */
  readonly cost: number
  /** Services that must be there before the tool runs. */
  readonly needs: readonly string[]
}
