import type { Presentation } from './base/call.ts'
import type { Json } from './base/json.ts'
import type { JsonSchema } from './base/schema.ts'
import type { Annotations, Compatibility, Safety, SideEffect, Tool, ToolDefinition } from './tool/tool.ts'

/** What to do when a canonical name is registered twice. */
export type DuplicatePolicy = 'error' | 'keep-first' | 'replace'

/** A registered tool. */
export interface Registered {
  readonly tool: Tool
  readonly definition: ToolDefinition
  /** Digest of the whole definition in canonical JSON. */
  readonly digest: string
  readonly source: string
  /**
   * The tool with its definition and with what it comes from: kind, id and place of its source, and the digest. Trust in one tool is trust in
   * its identity, and in no other of the same name.
   */
  readonly identity: string
  /** The tool with what it comes from and who has it, whatever its definition: what is counted for one is counted for all of the same line. */
  readonly line: string
  /** Models are not shown it until a search finds it. */
  readonly deferred: boolean
  /** Schemas of an imported tool that use more than the subset are validated in full. */
  readonly fullValidation: boolean
}

/**
 * Where a tool stands. `registered` is known and not callable yet, `enabled` is callable, `paused` is not for now, `deprecated`
 * is callable with advice to use something else, or not at all any more.
 */
export type ToolState = 'registered' | 'enabled' | 'paused' | 'deprecated'

/** All states. */
export const toolStates = [
  'registered',
  'enabled',
  'paused',
  'deprecated',
] as const satisfies readonly ToolState[]

/** Where a tool stands for one tenant right now. */
export interface ToolStatus {
  readonly state: ToolState
  /** Why it cannot be called, as a reason of `POLICY.DENY_TOOL`; undefined if it can. */
  readonly blocked: 'tool_not_available' | 'paused' | 'deprecated' | 'definition_pending' | undefined
  /** What to use instead of a deprecated tool, in the words of the actor that deprecated it. */
  readonly advice: string | undefined
  /** Fields of the definition that changed at its source and wait for approval. */
  readonly changed: readonly string[]
  /** Why nothing answers behind it, in the words of its source: no list shows it until that is over. Undefined as long as it may answer. */
  readonly outage: string | undefined
}

/** A change of where a tool stands. Unknown fields are refused. */
export interface StateChange {
  /** Only for this tenant. Default: for all. */
  tenant?: string
  /** Who changes it. */
  by: string
  /** Why; for a deprecation the advice that models are shown. */
  reason?: string
  /** With `deprecated`: it cannot be called any more. */
  removed?: boolean
}

/** How tools are registered while a runtime lives. Unknown fields are refused. */
export interface RegisterOptions {
  /** Default: the duplicate policy of the runtime. */
  duplicates?: DuplicatePolicy
  /** Only these tenants have the tools. Default: all. */
  tenants?: readonly string[]
  /** Puts a newer version in the place of a tool of the same source. Default false. */
  update?: boolean
  /** Lets an update go back to an earlier version. Default false. */
  downgrade?: boolean
  /** Where tools stand that were neither enabled nor paused yet. Default `enabled`. */
  state?: 'registered' | 'enabled'
  /** Kept in the evidence. Default `host`. */
  by?: string
}

/** How tools are taken away. Unknown fields are refused. */
export interface RemoveOptions {
  /** From these tenants, which have them alone. Default: from all. */
  tenants?: readonly string[]
  /** Kept in the evidence. Default `host`. */
  by?: string
}

/** Whether a schema describes what a tool takes, or what it returns. */
export type SchemaUse = 'input' | 'output'

/** One difference between two versions of a schema. */
export interface SchemaChange {
  /** `added` is a new optional field; `changed` is compatible in another way. */
  readonly kind: 'breaking' | 'added' | 'changed'
  /** RFC 6901 pointer into the schema. */
  readonly pointer: string
  readonly message: string
}

/** What a definition may reach, in one word each. */
export type CapabilityName = 'fs' | 'fs.read' | 'fs.write' | 'net' | 'proc' | 'browser' | 'tmp' | 'secrets'

/** All of them. `fs` is either of the two below it. */
export const capabilityNames = [
  'fs',
  'fs.read',
  'fs.write',
  'net',
  'proc',
  'browser',
  'tmp',
  'secrets',
] as const satisfies readonly CapabilityName[]

/** Which tools to look for. Everything that is present must hold. */
export interface ToolQuery {
  /** Default `local`. A tenant finds its own tools and those of all tenants. */
  tenant?: string
  /** The first parts of the name: `shop` finds `shop.cart.add`. */
  group?: string
  /** All of them. */
  tags?: readonly string[]
  safety?: Safety
  sideEffect?: SideEffect
  capability?: CapabilityName
  /** Words that stand in the name, title, description or tags, in any case; all of them. */
  keyword?: string
  state?: ToolState
  limit?: number
}

/** A tool as an operator finds it. Never shown to a model. */
export interface DiscoveredTool {
  readonly name: string
  readonly title: string
  readonly version: string
  readonly description: string
  readonly tags: readonly string[]
  readonly safety: Safety
  readonly sideEffect: SideEffect
  readonly capabilities: readonly CapabilityName[]
  readonly compatibility: Compatibility
  readonly source: string
  readonly digest: string
  readonly status: ToolStatus
}

/** A definition that changed at its source and waits for approval. */
export interface PendingDefinition {
  readonly tool: string
  /** Undefined if it is one of all tenants. */
  readonly tenant: string | undefined
  readonly source: string
  readonly version: string
  /** What an approval names. */
  readonly digest: string
  /** Each field that is not what was approved, as JSON values. */
  readonly changes: readonly { readonly field: string; readonly was: Json; readonly is: Json }[]
}

/** An approval of a changed definition. */
export interface DefinitionApproval {
  /** The very definition that is meant. */
  digest: string
  /** Who approves it. */
  by: string
  /** Where it is one of a tenant alone. */
  tenant?: string
}

/** A tool as a model sees it: never permissions, consent or capabilities. */
export interface PresentedTool {
  /** Canonical name. */
  readonly tool: string
  /** Name in this presentation. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonSchema
  readonly outputSchema?: JsonSchema
  readonly annotations?: Annotations
  readonly presentation: Presentation
  /** Whether it is deferred: it is shown because a search found it, or because all were asked for. */
  readonly deferred?: true
}

/** What an index reads of a tool. */
export interface IndexedTool {
  /** Canonical name: the parts before the last dot say whose it is. */
  readonly name: string
  readonly title?: string
  readonly description: string
  readonly inputSchema: object
}

/** Tools that can be searched in plain words. */
export interface ToolIndex<Found> {
  readonly size: number
  /** Everything that has one of the words, the best first. */
  search(query: string): Iterable<Found>
}

/** The tools of one tenant at one moment. Never changes. */
export interface RegistryView {
  /** By canonical name. */
  find(name: string): Registered | undefined
  /** By compatible name. */
  findCompatible(name: string): Registered | undefined
  /** In canonical order: by name, byte by byte. */
  list(): readonly Registered[]
  /** The deferred tools that have one of the words, the best first. The first search makes an index. */
  search(query: string): Iterable<Registered>
  /** How many of its tools are deferred. */
  readonly deferred: number
  readonly size: number
}

/** All tools, as the pipeline sees them. Itself it shows those that all tenants have. */
export interface Registry extends RegistryView {
  /** What a tenant has now: its own tools, and those of all tenants. */
  view(tenant: string): RegistryView
  /** Where a tool stands for a tenant, also after another process changed it. Cheap: asked before every call. */
  status(registered: Registered, tenant: string): ToolStatus
  /** The same by name; undefined for a tool that the tenant does not have. Default tenant `local`. */
  stateOf(name: string, tenant?: string): ToolState | undefined
  /** The identity of a tool of this name that the tenant has, in this or another program on the same store; undefined if there is none. */
  identityOf(name: string, tenant: string): string | undefined
  /** In canonical order. Throws a SetupError for a query that makes no sense. */
  discover(query?: ToolQuery): readonly DiscoveredTool[]
  /** Definitions that wait for approval, by any process. */
  pending(): readonly PendingDefinition[]
  /** Another value as soon as tools were added, updated or removed, or any process changed where one stands. Cheap. */
  version(): number
}
