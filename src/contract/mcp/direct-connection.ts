import type { JsonObject } from '../base/json.ts'

/** The MCP servers of a runtime, for clients that speak with one of them under its own names. */
export interface ServerConnections {
  /** Those that a tenant has, as the operator named them. */
  serversOf(tenant: string): readonly string[]
  /** Another number as soon as a server of the tenant said that it has other resources. */
  resourcesVersion(tenant: string): number
  /** A connection of one client to a server that its tenant has. It connects when it is first used. Throws if its tenant lacks that server. */
  openDirectConnection(server: string, end: DirectClient): DirectConnection
}

/** The client at its end of a connection. */
export interface DirectClient {
  readonly tenant: string
  readonly actor: string
  /** Whether the client shakes hands (to 2025-11-25) or not; the server is asked to speak likewise. */
  readonly era: 'legacy' | 'modern'
  /** What the client can do for a server, in the words of the protocol. */
  readonly capabilities: JsonObject
  /** Told of what the server says of its own accord. */
  notify(method: string, params: JsonObject): void
}

/** One client's own connection to one server. */
export interface DirectConnection {
  readonly server: string
  /** What the server says that it can do. Rejects with a `ToolFailure` where it cannot be reached. */
  initialize(): Promise<InitializedServer>
  /** Its tools as it says them, where what it says is what its imported tools were made from. */
  tools(): Promise<readonly OfferedTool[]>
  /** Whether it has any tool, also one that is held back here. */
  hasTools(): Promise<boolean>
  /** The canonical name of its tool, whether or not there is one. */
  canonicalName(tool: string): string
  /** What a call to a tool of the server has as its caller, so that it goes over this connection. */
  bindCall(binding: CallBinding): unknown
  /** Asks something that is not a call. Rejects as the server refused. */
  ask(method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject>
  /** Whether it was closed, by the client that uses it or because the operator has another server now. */
  isClosed(): boolean
  close(): Promise<void>
}

/** What a server says of itself. */
export interface InitializedServer {
  readonly era: 'legacy' | 'modern'
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
}

/** A tool in its server's own words. */
export interface OfferedTool {
  /** Canonical. */
  readonly name: string
  readonly said: JsonObject
}

/** What goes with a call over a connection. */
export interface CallBinding {
  /** Parameters beside name and arguments. */
  readonly params: JsonObject
  /** Gets what the server needs before it goes on, by the server's own keys. */
  sendRequests(requests: JsonObject, signal: AbortSignal): Promise<JsonObject>
  /** Told of what the server says while it works on the call. */
  notify(method: string, params: JsonObject): void
}
