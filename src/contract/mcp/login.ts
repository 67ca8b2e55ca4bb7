import type { JsonObject } from '../base/json.ts'

/** How Handrail logs in at a server, as the operator says it. A `${NAME}` in a secret stands for the secret of that name. */
export interface LoginSettings {
  /** Whether the operator said anything of it. */
  readonly isGiven: boolean
  /** With a code that a person allows in a browser, or as a machine with credentials of its own. */
  readonly grant: 'authorization_code' | 'client_credentials'
  /** A client that the authorization server knows. Undefined: Handrail registers itself. */
  readonly clientId: string | undefined
  readonly clientSecret: string | undefined
  /** In PEM: signs who the client is, in the place of a secret. */
  readonly privateKey: string | undefined
  readonly signingAlgorithm: string
  /** Where a document about this client is, whose URL is its id for authorization servers that take that. */
  readonly clientMetadataUrl: string | undefined
  /** Undefined: what the server asks for. */
  readonly scopes: readonly string[] | undefined
  /** The one authorization server that credentials go to. Undefined: the one that the server names first. */
  readonly issuer: string | undefined
  /** Where the browser is led back to on this machine. Undefined: any free port at a terminal, 7421 for a program. */
  readonly redirectPort: number | undefined
}

/** Whose login, at which server. */
export interface LoginPlace {
  readonly tenant: string
  /** URL of the MCP server. */
  readonly server: string
}

/** What is kept of a login. Every credential in it belongs to one authorization server and goes to no other. */
export interface StoredLogin {
  /** The authorization server that the operator's own client was first used at. */
  readonly issuer?: string | undefined
  /** Clients that were registered, by issuer. */
  readonly clients: Readonly<Record<string, JsonObject>>
  /** With the `issuer` that gave them. */
  readonly tokens?: JsonObject | undefined
  /** What the server wanted in vain, for the next time that a person logs in: scopes with spaces between. */
  readonly wanted?: string | undefined
}

/** Where logins are kept. `read` returns another object only if something else is kept now. */
export interface TokenStore {
  read(place: LoginPlace): StoredLogin | undefined
  write(place: LoginPlace, login: StoredLogin): void
  remove(place: LoginPlace): void
}

/** What a person is asked for. */
export interface LoginRequest {
  /** As the operator named it. */
  readonly server: string
  readonly tenant: string
  /** Where the person has to go: https, or http on this machine. It comes from outside: never hand it to a shell. */
  readonly url: string
  /** Where their browser is led back to. */
  readonly redirectUrl: string
  /** What is asked for; empty if the authorization server decides. */
  readonly scopes: readonly string[]
}

/** Leads a person to a URL, and returns the URL that their browser was led back to. Rejects if they did not come back. */
export type Authorize = (request: LoginRequest, signal: AbortSignal) => Promise<string>

/** Who logs in. */
export interface LoginPerson {
  readonly authorize: Authorize
  readonly redirectUrl: string
}

/** How a login stands. */
export interface LoginFacts {
  /** The authorization server. Undefined: the server needs no login. */
  readonly issuer: string | undefined
  /** What was granted. */
  readonly scopes: readonly string[]
}
