import type { Authorize } from '../../contract/mcp/login.ts'

/** Which MCP servers there are: those of a file, or those that are handed over in the shape of that file. */
export interface McpToolsOptions {
  /** Default `~/.handrail/mcp.json`. Never a file of a project: a process that may write there could declare what runs. */
  path?: string
  /** What stands under `mcpServers` of such a file. Takes its place. */
  servers?: Readonly<Record<string, unknown>>
  /** Whether changes of the file are taken over while the runtime lives, and programs that the run before called are started at once. Default false. */
  follow?: boolean
  /** Whether servers that were never seen before are connected to at once, to learn their tools; or which of them, by name. Default true. */
  meet?: boolean | ((server: string) => boolean)
  /**
   * Asked when a server wants a login: leads a person to a URL, and returns the URL that their browser was led back to. Each login is asked
   * for once; `login` asks again. Default: no person is asked, and such a server is of no use until `login` is called.
   */
  authorize?: Authorize
  /** A folder of its own that tokens are kept in. Default: `mcp-tokens` beside the file; with `servers`, memory. */
  logins?: { dir: string }
  /**
   * A folder of its own in which each program has a home that stays, by the name of its server. Default: `servers` beside the file; with
   * `servers`, none, and the home of a program is gone with it. `homes` takes its place for the homes, and packages that are fetched stay in `dir`.
   */
  data?: { dir: string; homes?: string }
}
