import type { CallError } from './base/errors.ts'
import type { JsonObject } from './base/json.ts'
import type { Operation } from './tool/plan.ts'
import type { Profile } from './base/profile.ts'
import type { Ancestor, Mode, Principal, Role } from './base/principal.ts'
import type { LoadedSkill } from './services/skill.ts'
import type { Capabilities, Limits, ToolDefinition } from './tool/tool.ts'

export type Effect = 'allow' | 'ask' | 'deny'

/** Of two effects the one with the greater number wins. */
export const strictness: { readonly [effect in Effect]: number } = { allow: 0, ask: 1, deny: 2 }

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
  /** Folders of the projects in which it holds: absolute, or from `~/` on. Absent: all. */
  projects?: readonly string[]
  resources?: readonly string[]
  /**
   * Patterns of a command, one for each argument; a last `**` stands for any further ones. A bare program name matches
   * only a program outside of every directory that tools may write.
   */
  argv?: readonly string[]
  /**
   * Patterns of commands: `npm test`, `git log *`, `npm run build:*`. They are held against every command of a command line, wherever
   * it is nested, and against the program and arguments of a call without a shell. An allow must cover each of them, together
   * with the other rules that allow; a deny or an ask is met by any. What cannot be read for sure is never allowed, and asked
   * for where a rule denies or asks.
   */
  commands?: readonly string[]
  /** Patterns, `*` for any letters, of fields of the input that hold text, a number or a boolean. A field that is left out never matches. */
  input?: { readonly [field: string]: string }
  /** Whether the input has no field but those that `input` names; without `input`, none at all. Default false. */
  inputOnly?: boolean
  /** Lets an allow rule cover sensitive paths too. Default false. */
  sensitive?: boolean
  reason?: string
}

/**
 * What principals may use at all. Every field that is present must match. If a policy has no grants, every principal that the host
 * opens a session for may invoke what the rules let through. If it has some, no principal may do more than they say.
 */
export interface Grant {
  /** Kept in the evidence. Default: its place in the file. */
  id?: string
  /** Patterns, `*` for any letters. */
  tenants?: readonly string[]
  actors?: readonly string[]
  roles?: readonly Role[]
  /** Patterns of canonical names. */
  tools?: readonly string[]
  /** Scopes that tools may require: a resource pattern and its actions. Absent: all. */
  scopes?: readonly { resource: string; actions: readonly string[] }[]
  /** Directories, hosts and programs that calls under this grant may reach at most. Absent: what the policy bounds. */
  capabilities?: {
    read?: readonly string[]
    write?: readonly string[]
    hosts?: readonly string[]
    executables?: readonly string[]
  }
}

/** What holds for one tenant alone. */
export interface TenantPolicy {
  /** The tenant's project folder. Default: the runtime's. */
  project?: string
  readRoots?: readonly string[]
  writeRoots?: readonly string[]
  /** Patterns of the tools that this tenant has. Absent: all. Empty: none. */
  allowedTools?: readonly string[]
  /** Beats `allowedTools`. */
  disallowedTools?: readonly string[]
  rules?: readonly Rule[]
  /** Settings of tools, by canonical name; a tool finds its own in `context.settings`. */
  settings?: { readonly [tool: string]: JsonObject }
}

/** What a budget of calls counts. `cost` is what the manifest of a tool names as its cost, in the operator's own unit. */
export type CallUnit = 'calls' | 'bytesIn' | 'bytesOut' | 'cpuMs' | 'wallMs' | 'cost'

/** What a budget of language models counts: tokens in and out; or what they cost, in the unit of the prices of runs, together with what calls cost by `prices`. */
export type ModelUnit = 'tokens' | 'money'

/** What a budget counts. */
export type BudgetUnit = CallUnit | ModelUnit

/** So many units for the calls, or the answers of models to agent runs, that it matches, in windows of time or in total. Every field that is present must match. */
export interface Budget {
  /** Names its accounts in the store: another id starts anew. */
  id: string
  unit: BudgetUnit
  limit: number
  /** Length of its windows, which start at multiples of it since the epoch. Absent: in total. */
  windowMs?: number
  /** Whom it counts apart. Default `['tenant']`: one account for each tenant. Empty: one for all. */
  each?: readonly ('tenant' | 'actor' | 'tool')[]
  tenants?: readonly string[]
  actors?: readonly string[]
  tools?: readonly string[]
  /** `rate` answers `QUOTA.RATE_LIMITED` where a budget answers `QUOTA.BUDGET_EXCEEDED`. Default `budget`. */
  kind?: 'budget' | 'rate'
}

/** What calls of tools cost, in the unit of the prices of models: budgets of `money` count it. */
export interface ToolPrice {
  /** Patterns of canonical names. */
  tools: readonly string[]
  /** Of one call, to the millionth. */
  perCall: number
}

/** What is done to results, and to what the evidence keeps, of the calls it matches. Every matcher that is present must match. */
export interface Obligation {
  /** Kept in the evidence and shown by preflight. */
  id: string
  tenants?: readonly string[]
  tools?: readonly string[]
  tags?: readonly string[]
  /** `redact` replaces a value as a whole, `mask` leaves its last four characters, `watermark` adds a text. */
  action: 'redact' | 'mask' | 'watermark'
  /** RFC 6901 pointers into the structured data; `*` as a segment stands for every member or item. */
  pointers?: readonly string[]
  /** Regular expressions of the schema subset's own pattern language, found anywhere in text. */
  patterns?: readonly string[]
  /** Fields whose output schema carries one of these in `x-classification`. */
  classifications?: readonly string[]
  /** What a watermark adds; `{tenant}`, `{actor}`, `{call}` and `{at}` are filled in. */
  text?: string
  /** Where it cannot be done: `deny` withholds the result, `degrade` withholds the structured data and says so. Default `deny`. */
  onFailure?: 'deny' | 'degrade'
}

/**
 * Who may decide about calls that ask. Every matcher that is present must match; all that match have to be met. If none matches a call, the
 * person who is asked decides.
 */
export interface ApproverRule {
  /** Kept in the evidence. Default: its place in the file. */
  id?: string
  /** Patterns, `*` for any letters, of the tenant that asks. */
  tenants?: readonly string[]
  /** Patterns of canonical names. */
  tools?: readonly string[]
  /** Who may say yes: patterns of actors. Absent: all. */
  approvers?: readonly string[]
  /** Whether the actor who asks cannot say yes. Default false. */
  notRequester?: boolean
  /** How many different people have to say yes. Default 1. */
  needed?: number
  /** If the question is still open after so many milliseconds, these may say yes too. */
  escalate?: { afterMs: number; approvers: readonly string[] }
}

/** The person's policy, `<home>/policy.json`. */
export interface Policy {
  $schema?: string
  /** Mode of sessions that name none. Default `default`. */
  mode?: Mode
  /** Allows sessions in mode `bypass`, which ask no person. Default false. */
  allowBypass?: boolean
  /**
   * What happens to calls of tools tagged `network` and to network operations; default `ask`. `deny` disables them. Calls to `hosts`
   * (names, or `*.example.com`) are let through. With `everyTime`, a yes for the session counts once only.
   */
  network?: { default?: Effect; hosts?: readonly string[]; everyTime?: boolean }
  rules?: readonly Rule[]
  grants?: readonly Grant[]
  /** Where it is present, it names every tenant there is, beside `local`. */
  tenants?: { readonly [tenant: string]: TenantPolicy }
  budgets?: readonly Budget[]
  /** The first that names a tool counts; a call of any other tool costs no money. */
  prices?: readonly ToolPrice[]
  obligations?: readonly Obligation[]
  approvers?: readonly ApproverRule[]
}

/** Where a verdict comes from. */
export type Layer =
  | 'bounds'
  | 'role'
  | 'mode'
  | 'set'
  | 'policy'
  | 'project'
  | 'tenant'
  | 'skill'
  | 'grants'
  | 'decision-point'
  | 'session-approval'
  | 'consent'
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
  /** Undefined while only the tool is known; then no rule on the input matches. */
  input?: JsonObject
  /** What answers for the person already: their yes for the session, or a standing consent. */
  granted: 'session-approval' | 'consent' | undefined
  /** The sessions above the one that asks: the strictest of their decisions and its own counts. */
  ancestors?: readonly Ancestor[] | undefined
  /** The skills that the session and those above it follow. They ask and deny, and let nothing through. */
  skills?: readonly FollowedSkill[] | undefined
}

/** A skill that a session follows, and whether its files still are what was loaded. */
export interface FollowedSkill {
  readonly skill: LoadedSkill
  readonly isIntact: boolean
}

/** What would decide if what decides now, and all that the alternatives before this one name, were not there. */
export interface Alternative {
  without: { layer: Layer; rule: string }
  effect: Effect
  layer: Layer
  rule: string
  reason: string
}

/** A decision with everything behind it. */
export interface Explanation {
  /** What every layer says, the deciding one first; also what was answered or overruled. */
  verdicts: readonly Verdict[]
  /** Ends with the first one of another effect, or where nothing is left to take away. */
  alternatives: readonly Alternative[]
}

/** A call that a person is asked about, and since when. */
export interface AskedCall {
  readonly tenant: string
  /** Canonical name. */
  readonly tool: string
  /** The actor who asks. */
  readonly requester: string
  /** Milliseconds since the epoch. */
  readonly askedAt: number
}

/** Decides; pure and total. */
export interface PolicyEngine {
  /** Digest of everything that decides. */
  readonly digest: string
  readonly defaultMode: Mode
  readonly allowBypass: boolean
  /** Folders that calls may write, where a tool and a grant let them. */
  readonly writable: readonly string[]
  decide(facts: DecisionFacts): Decision
  /** Whether some input may make a call of this tool ask that reaches nothing. If not, the call is allowed or denied, whatever it says. */
  mayAsk(facts: Omit<DecisionFacts, 'operations' | 'input' | 'granted'>): boolean
  /** What stands behind `decide` for the same facts. Takes its time: for people, not for calls. */
  explain(facts: DecisionFacts): Explanation
  /** The sensitive ones among these paths. */
  sensitivePaths(paths: readonly string[]): string[]
  /**
   * Globs of what a search or listing by this tool leaves out: sensitive paths, and those that a rule denies or asks for.
   * What a call names itself is decided, not hidden.
   */
  hiddenGlobs(
    facts: Pick<DecisionFacts, 'definition' | 'principal' | 'mode' | 'ancestors'>,
  ): readonly string[]
  /** Whether what a program of a call may write is less than its bounds: by a rule on paths, or because the call is let through only to look. */
  limitsWrites(facts: DecisionFacts): boolean
  /** How many different people have to say yes to a call that asks. */
  approvalsNeeded(asked: AskedCall): number
  /** Why this actor cannot say yes to it; undefined if they can. An empty name is that of a person of whom nothing is known. */
  approverIssue(asked: AskedCall, answer: { by: string; at: number }): string | undefined
  /**
   * Grant ∩ manifest ∩ policy, the same object for the same two. `copies` are folders of skills that a session follows: they may be read beside what the
   * policy bounds, if grant and manifest let them.
   */
  profile(grant: Bounds, definition: ToolDefinition, copies?: readonly string[]): Profile
  /** The first operation that the profile does not cover, as an error; undefined if all are covered. */
  guard(profile: Profile, operations: readonly Operation[]): CallError | undefined
}

/** What a session or a policy bounds: the same shape as what a manifest declares. */
export interface Bounds {
  capabilities: Capabilities
  limits: Pick<Limits, 'maxBytesIn' | 'maxBytesOut'> & { timeoutMs: number }
}
