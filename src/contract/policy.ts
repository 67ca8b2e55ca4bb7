import type { CallError } from './errors.ts'
import type { Fault } from './json.ts'
import type { Operation } from './plan.ts'
import type { Profile } from './profile.ts'
import type { Mode, Principal, Role } from './principal.ts'
import type { Capabilities, Limits, ToolDefinition } from './tool.ts'

export type Effect = 'allow' | 'ask' | 'deny'

/**
 * A rule of a policy. Every field that is present must match. Tool patterns take `*` for any letters;
 * resource patterns are URNs with globs: `handrail:file:/srv/**`, `handrail:host:*.example.com`,
 * `handrail:exec:/usr/bin/git`, `handrail:tool:code.*`. `~` is the home directory, `{project}` the project root.
 */
export interface Rule {
  /** Shown by `explain` and kept in the evidence. Default: its place in the file. */
  id?: string
  effect: Effect
  tools?: readonly string[]
  tags?: readonly string[]
  roles?: readonly Role[]
  modes?: readonly Mode[]
  resources?: readonly string[]
  /**
   * Patterns of a command, one for each argument; a last `**` stands for any further ones. A bare program name matches
   * only a program outside of every directory that tools may write.
   */
  argv?: readonly string[]
  /** Lets an allow rule cover sensitive paths too. Default false. */
  sensitive?: boolean
  reason?: string
}

/** The person's policy, `<home>/policy.json`. */
export interface Policy {
  $schema?: string
  /** Mode of sessions that name none. Default `default`. */
  mode?: Mode
  /** Allows sessions in mode `bypass`, which ask nobody. Default false. */
  allowBypass?: boolean
  /**
   * What happens to calls of tools tagged `network` and to network operations; default `ask`. `deny` disables them. Calls to `hosts`
   * (names, or `*.example.com`) are let through. With `everyTime`, a yes for the session counts once only.
   */
  network?: { default?: Effect; hosts?: readonly string[]; everyTime?: boolean }
  rules?: readonly Rule[]
}

/** Where a verdict comes from. */
export type Layer =
  | 'bounds'
  | 'role'
  | 'mode'
  | 'set'
  | 'policy'
  | 'project'
  | 'grant'
  | 'defaults'
  | 'sandbox'
  | 'hook'
  | 'person'

/** What one rule of one layer says. */
export interface Verdict {
  layer: Layer
  rule: string
  effect: Effect
  reason: string
}

/** What all layers say together: deny over ask over allow. */
export interface Decision {
  effect: Effect
  /** The layer and rule that decided. */
  layer: Layer
  rule: string
  reason: string
  /** For a denial: the reason of the error table. */
  denial?: 'rule_denied' | 'mode_denied' | 'role_denied'
  /** For an ask: whether a yes for the session may be kept. */
  keepable?: boolean
  /** Everything that matched, the deciding one first. */
  verdicts: readonly Verdict[]
}

/** What a decision is made from. */
export interface DecisionFacts {
  definition: ToolDefinition
  principal: Principal
  mode: Mode
  /** Undefined while only the tool is known; then only what needs no resource can decide. */
  operations: readonly Operation[] | undefined
  /** Whether the person allowed this tool and scope for the session. */
  granted: boolean
}

/** Decides; pure and total. */
export interface PolicyEngine {
  /** `sha256:` over everything that decides. */
  readonly digest: string
  readonly defaultMode: Mode
  readonly allowBypass: boolean
  decide(facts: DecisionFacts): Decision
  /** The sensitive ones among these paths. */
  sensitivePaths(paths: readonly string[]): string[]
  /**
   * Globs of what a search or listing by this tool leaves out: sensitive paths, and those that a rule denies or asks for.
   * What a call names itself is decided, not hidden.
   */
  hiddenGlobs(facts: Pick<DecisionFacts, 'definition' | 'principal' | 'mode'>): readonly string[]
  /** Grant ∩ manifest ∩ policy, the same object for the same two. */
  profile(grant: Bounds, definition: ToolDefinition): Profile
  /** The first operation that the profile does not cover, as an error; undefined where all are covered. */
  guard(profile: Profile, operations: readonly Operation[]): CallError | undefined
}

/** What a session or a policy bounds: the same shape as what a manifest declares. */
export interface Bounds {
  capabilities: Capabilities
  limits: Pick<Limits, 'maxBytesIn' | 'maxBytesOut'> & { timeoutMs: number }
}

/** A policy file that cannot be used, with every fault. */
export type ParsedPolicy = { ok: true; policy: Policy } | { ok: false; faults: readonly Fault[] }
