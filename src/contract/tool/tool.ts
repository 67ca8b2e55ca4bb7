import type { Counterpart } from '../base/counterpart.ts'
import type { ElicitationResult, ElicitationRequest } from '../base/elicitation.ts'
import type { Json, JsonObject } from '../base/json.ts'
import type { LongTool } from '../services/long-tool.ts'
import type { Plan, PlanContext } from './plan.ts'
import type { Principal } from '../base/principal.ts'
import type { Artifact, ToolOutput } from '../base/result.ts'
import type { JsonSchema } from '../base/schema.ts'
import type { ArtifactSink } from '../services/sandbox.ts'
import type { ToolDefinition } from './definition.ts'
import type { Services } from './services.ts'

export type {
  Permission,
  SideEffect,
  Safety,
  Capabilities,
  Limits,
  ConsentPolicy,
  Annotations,
  Deprecation,
  Compatibility,
  ToolDefinition,
} from './definition.ts'

/** How a tool is shown under a name and input that models already know. It maps its input before anything else happens. */
export interface CompatiblePresentation {
  name: string
  description?: string
  inputSchema: JsonSchema
  toCanonical(input: JsonObject): JsonObject
  /**
   * Further names for callers that know the tool by them. They are not shown, and mean it only if no tool has such a name of its own.
   */
  aliases?: readonly CompatibleAlias[]
}

/** Another name of a compatible presentation, with an input of its own. */
export type CompatibleAlias = Pick<CompatiblePresentation, 'name' | 'inputSchema' | 'toCanonical'>

/** What a tool is given while it runs: facts about the call, and the services it named in `needs`. */
export interface ToolContext extends Partial<Services> {
  readonly callId: string
  readonly toolCallId: string
  readonly session: string
  readonly principal: Principal
  /** The `caller` that the call was made with; undefined if it has none. */
  readonly caller?: unknown
  /** Absolute path of the project root. */
  readonly project: string
  /** What the tenant's policy sets for this tool; empty if it says nothing. */
  readonly settings: JsonObject
  /** Aborted when the call is aborted, times out, or its session ends. */
  readonly signal: AbortSignal
  /** Globs of paths for searches and listings to leave out: sensitive ones, and those that rules deny or ask for. */
  readonly sensitiveGlobs: readonly string[]
  /** Where large output of a running command goes. */
  readonly artifactSink: ArtifactSink
  /** What the plan of this call left for its run. */
  readonly planned: unknown
  /** Reports progress; shown to those that watch the call, never stored as its result. */
  readonly progress: (update: { message?: string; done?: number; total?: number }) => void
  /** Shows what a command prints while it runs as progress: whole lines without secrets, and no more than a person reads. End it with the command. */
  readonly followOutput: () => OutputFollower
  /** Stores a large or binary output and returns its reference. */
  readonly artifact: (
    bytes: Uint8Array | string,
    about: { mimeType: string; name?: string },
  ) => Promise<Artifact>
  /** The idempotency key that the call was made with; undefined if it has none. */
  readonly idempotencyKey: string | undefined
  /** Says what the other side calls this call, of a tool that calls another domain. What was said last stands in the end record. */
  readonly counterpart: (counterpart: Counterpart) => void
  /** A secret that the manifest names. Throws when it is not named or not there. */
  readonly secret: (name: string) => string
  /**
   * Asks the person or model that works with the session. Never rejects: it is declined if neither can be asked, and after 16 times in one
   * call; it is cancelled if no answer comes in time. The time limit of the call stands still meanwhile. `signal` withdraws the question,
   * and so does the end of the call.
   */
  readonly elicit: (request: ElicitationRequest, signal?: AbortSignal) => Promise<ElicitationResult>
  /** Whether the session, or the call, has a handler that may bring what `elicit` asks to a person or model. */
  readonly canElicit: boolean
  /**
   * Does work that waits for a person who is asked in another way than by `elicit`: the time limit of the call stands still, at most as long
   * as an answer to an elicitation may take, and 16 times in one call with the elicitations. Returns what the work returns. What is asked for
   * another call counts there: `elsewhere` says so.
   */
  readonly awaitPerson: <Given>(work: () => Promise<Given>, counts?: 'elsewhere') => Promise<Given>
}

/** Takes what a command prints, as it comes. */
export interface OutputFollower {
  add(chunk: { stream: 'stdout' | 'stderr'; text: string }): void
  /** Shows what waited for the end of its line. */
  end(): void
}

/** A tool: its manifest and how it runs. Make one with `defineTool`, or extend `ToolAdapter`. */
export interface Tool {
  readonly definition: ToolDefinition
  readonly compatible?: CompatiblePresentation
  /** The parts that a composition calls, by their names; absent for any other tool. */
  readonly composedOf?: { readonly [part: string]: string }
  /** How it goes on after its call; absent for a tool that ends with it. */
  readonly long?: LongTool<ToolContext>
  /** Why the tool cannot be used as things are, such as a service that is not configured. It is listed nowhere and answers with this. */
  readonly unavailable?: string
  /** An absolute path of a folder that its programs find and only read, wherever it lies. */
  readonly folder?: string
  /** Whether it stays out of what models are shown until a search finds it. Default: as its source says. */
  readonly defer?: boolean
  /** Turns the checked input into what `plan` and `run` take. Throws a `ToolFailure` or any error on a bad value. */
  decode?(input: JsonObject): unknown
  /** Says what the call would do, without doing it. May read; must not write. */
  plan?(input: unknown, context: PlanContext): Plan | Promise<Plan>
  /**
   * Turns what `run` gave as data into what goes back as such: it is held to the output schema then. Throws a `ToolFailure` with the issues of data that
   * the tool itself finds wrong; not for `partial` data, of a run that failed or was stopped.
   */
  encode?(data: Json, about: { partial: boolean }): Json
  /** Does it. Whatever it returns or throws becomes a result. */
  run(input: unknown, context: ToolContext): unknown
  /**
   * Frees what the tool holds. Called once, when no session can call the tool any more: when it was replaced or removed and the last
   * session that has it closes, at the latest when the runtime closes. Not waited for longer than five seconds.
   */
  dispose?(): void | Promise<void>
}

/** What `run` may return: a `ToolOutput`, or any JSON value, which is wrapped into one. */
export type ToolReturn = ToolOutput | Json | void

/** Where tools come from. */
export interface ToolSource {
  /** Unique id, such as `code` or `mcp.github`. */
  readonly id: string
  readonly kind: 'builtin' | 'code' | 'declarative' | 'agent' | 'task' | 'mcp' | 'a2a'
  /**
   * The operator wrote its tools, as they wrote the policy: a changed definition is in force at once. Default false: what comes from
   * outside of the program waits for an approval when it changes.
   */
  readonly byOperator?: boolean
  /**
   * The fields of a definition that wait for an approval when they change, or parts of its metadata; the others are the operator's own
   * word. Default: all.
   */
  readonly pinnedFields?: readonly (keyof ToolDefinition | `metadata.${string}`)[]
  /**
   * A changed definition says that the one before it is no more, as what runs is not ours: it is not kept in force while the change waits.
   * Default false.
   */
  readonly supersedes?: boolean
  /**
   * It was there before: where the store knows its definitions nothing is noted again, and nothing of them is put into another form.
   * Default false.
   */
  readonly recalled?: boolean
  /** Whether its tools stay out of what models are shown until a search finds them. Default false. */
  readonly defer?: boolean
  /** Only these tenants have its tools. Default: those that it is registered for. */
  readonly tenants?: readonly string[]
  /** What its tools run on, such as the address of a server: at another place they are other tools, which no person said yes to. */
  readonly place?: string
  list(): readonly Tool[]
  /** What it could make no tool of. It is reported as tools that are left out are. */
  quarantined?(): readonly Quarantined[]
}

/** Something of a source that is not a tool because of its issues. */
export interface Quarantined {
  /** The name of the tool or, where that is not known, of what should hold it. */
  readonly tool: string
  /** What is wrong with which thing, all of it. */
  readonly message: string
}
