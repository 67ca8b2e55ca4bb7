import type { Wants } from './find-remedy.ts'
import type { ToolFailure } from '../../../contract/base/errors.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { Principal } from '../../../contract/base/principal.ts'
import type { LoginFacts, LoginPerson } from '../../../contract/mcp/login.ts'
import type { DirectClient, DirectConnection } from '../../../contract/mcp/direct-connection.ts'
import type { UpstreamServer } from '../../../contract/mcp/upstream.ts'
import type { PackageUpdate, Pin } from '../../packages/open-packages.ts'
import type { IdlePattern } from './idle-patterns.ts'
import type { FaultyTool, ImportedTool } from './import-tool.ts'
import type { Asker } from './questions.ts'

/** One server: its tools, as it was last seen, and the ways of tenants to it. */
export interface Upstream {
  readonly server: UpstreamServer
  /** Id as a source of tools. */
  readonly source: string
  /** Whether it was seen before, by this or an earlier process. */
  readonly isKnown: boolean
  /** Puts the tools in place that are remembered of it. */
  recall(): Promise<void>
  /** Connects and takes the tools that it has now. Rejects with a `ToolFailure` where that cannot be. */
  refresh(): Promise<void>
  /** Looks at what a server that answers will fail at later. Takes a moment, and never rejects. */
  examine(): Promise<void>
  /** What it says by now of a tool to this tenant. */
  offer(tenant: string, tool: ImportedTool): Offer
  /** Why a call of this tenant would fail at once; undefined if it would set out. */
  refusal(tenant: string): ToolFailure | undefined
  call(tool: ImportedTool, input: JsonObject, call: UpstreamCall): Promise<JsonObject>
  /** Asks something that changes nothing, such as for a resource. */
  ask(request: UpstreamRequest): Promise<JsonObject>
  /** How often it said to this tenant that it has other resources. */
  resourcesVersion(tenant: string): number
  /** A connection for one client alone. */
  openDirectConnection(end: DirectClient): DirectConnection
  describe(): UpstreamState
  /** Has a person log in for a tenant, and connects. Rejects with why that did not come about. */
  login(tenant: string, person: LoginPerson): Promise<LoginFacts>
  /** Fetches its package anew and pins what is newest; it is started with that from then on. Undefined if it has none. Rejects with why it could not be. */
  update(): Promise<PackageUpdate | undefined>
  /** Forgets the login of a tenant; false if there was none. */
  logout(tenant: string): Promise<boolean>
  /** Ends all connections; with `remove`, takes its tools away too. */
  close(options?: { remove: boolean }): Promise<void>
}

/** For whom a server is asked. */
export type Caller = Pick<Principal, 'tenant' | 'actor'>

/** A call on its way to a server. */
export interface UpstreamCall {
  readonly principal: Caller
  readonly signal: AbortSignal
  readonly onProgress: (update: { message?: string; done?: number; total?: number }) => void
  /** Whom the server may ask while it runs. */
  readonly asker: Asker
  /** Looks at what the server says of the tool by now, and throws where it must not be called. */
  readonly guard: (offer: Offer) => void
}

/** A request that changes nothing. */
export interface UpstreamRequest {
  readonly principal: Caller
  readonly method: string
  readonly params: JsonObject
  readonly signal: AbortSignal
  /** Canonical name of the tool that asks. */
  readonly tool: string
  /** Whom the server may ask before it answers. */
  readonly asker: Asker
}

/** Where a server stands. */
export interface UpstreamState extends ConnectionState {
  readonly server: string
  readonly source: string
  /** The tenant that it is connected to for first; its tools are tools of this tenant. */
  readonly tenant: string
  /** Whether it was seen, by this or an earlier process. */
  readonly isKnown: boolean
  /** Canonical names. */
  readonly tools: readonly string[]
  readonly faulty: readonly FaultyTool[]
  /** What the operator should know of single tools that are taken. */
  readonly toolNotes: readonly FaultyTool[]
  /** Folders that its program may write to by its entry, and cannot; as far as that was looked at. */
  readonly unwritable: Unwritable
  /** Patterns of the operator that meet none of the tools that it has, as far as these are known. */
  readonly idlePatterns: readonly IdlePattern[]
  /** Where its program keeps its data. Undefined: nowhere, or it is not a program. */
  readonly data: string | undefined
  /** Undefined if its command fetches none. */
  readonly package: PackageState | undefined
}

/** Folders that a program cannot write to, and as whom it runs. */
export interface Unwritable {
  readonly folders: readonly string[]
  readonly user: string
}

/** Where the package of a server stands. */
export interface PackageState {
  /** As its command names it. */
  readonly specs: readonly string[]
  readonly fetching: boolean
  /** What is started; undefined if nothing was fetched yet. */
  readonly pin: Pin | undefined
}

/** What its server says of a tool by now. `unknown` where it has not been asked yet. */
export type Offer = 'same' | 'changed' | 'gone' | 'unknown'

/** Where a connection stands. */
export interface ConnectionState {
  readonly state: 'idle' | 'connecting' | 'open' | 'failed' | 'closed'
  /** The revision of the protocol, while it is open. */
  readonly revision: string | undefined
  /** Why it failed last. */
  readonly fault: string | undefined
  /** Whether it failed as it wants a login, or one with more rights. */
  readonly wantsLogin: boolean
  /** What the operator could do about that, or about what could be better; of several lines. */
  readonly remedy: string | undefined
  /** The last of what the server said beside the protocol. */
  readonly log: string
  /** What its entry names and its program is kept from, as the fields of the entry that would let it. */
  readonly wants: Wants
  /** Hosts that its program asked for, and that the guard of the network kept it from. */
  readonly refused: readonly string[]
}
