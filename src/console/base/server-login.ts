import type { LoginFacts } from '../../contract/mcp/login.ts'

/** Where a browser comes back to that logged in at an MCP server. */
export const serverLoginPath = '/enter/server'

/** Whose login, at which server, and who makes it. */
export interface ServerLoginAbout {
  readonly server: string
  readonly tenant: string
  readonly actor: string
  /** Whether they may still make it. */
  readonly stands: () => boolean
  /** Of the console, as the browser of the person knows it. */
  readonly origin: string
}

/** What a person has to do: visit a page, with a secret in the cookie of their browser; or nothing. */
export type ServerLoginBegun =
  | { readonly url: string; readonly secret: string }
  | { readonly url: undefined; readonly facts: LoginFacts }

/** Logins at MCP servers that people make in their browsers. */
export interface ServerLogins {
  /** Rejects with a SetupError if it does not come about. */
  begin(about: ServerLoginAbout): Promise<ServerLoginBegun>
  /** Takes what a browser came back with. Resolves with the name of the server; rejects with a SetupError that says why nothing came of it. */
  finish(url: URL, secret: string | undefined): Promise<string>
}
