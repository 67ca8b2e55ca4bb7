import type { LoginSettings } from './login.ts'

/** An MCP server whose tools the operator imports, as its configuration says it. */
export interface UpstreamServer {
  /** As the operator wrote it; any letters. */
  readonly name: string
  readonly transport: UpstreamTransport
  /** Which hosts its tools may reach, as patterns. A program without any is isolated from the network. */
  readonly hosts: readonly string[]
  /** Of one call, in milliseconds. Absent: the default of the runtime. */
  readonly timeoutMs: number | undefined
  /** How long it may take to connect, in milliseconds. Absent: 30,000. */
  readonly connectMs?: number | undefined
  /** The revision of the protocol in which it is spoken to. Absent: it is asked. */
  readonly protocol?: '2025-11-25' | '2026-07-28' | undefined
  /** Which of its tools there are, and which of them the operator says only read. Patterns of its own names. */
  readonly tools: {
    readonly allow: readonly string[]
    readonly deny: readonly string[]
    readonly readonly: readonly string[]
  }
  /** Whether models are not shown its tools until a search finds them. Absent: they are shown. */
  readonly defer?: boolean | undefined
  /** Whether it may ask for words of a model. */
  readonly sampling: boolean
  /** Only these tenants have its tools. Undefined: all. */
  readonly tenants: readonly string[] | undefined
  /** What a tenant's own connection has beside, or in place of, `env` or `headers`, by tenant. */
  readonly credentials: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** How a server is reached. A `${NAME}` in a value of `env` or `headers` stands for the secret of that name. */
export type UpstreamTransport =
  | {
      readonly kind: 'stdio'
      readonly command: string
      readonly args: readonly string[]
      readonly env: Readonly<Record<string, string>>
      /** Absolute. Undefined: the project. */
      readonly cwd: string | undefined
      /** Folders that it sees beside its working directory, and those that it may write to: absolute, from `~/`, or `project`. */
      readonly read: readonly string[]
      readonly write: readonly string[]
      /** Whether a package that its command fetches is fetched for it, and which hosts beside its registry it may be fetched from. */
      readonly fetch?: readonly string[] | undefined
    }
  | {
      readonly kind: 'http'
      readonly url: string
      readonly headers: Readonly<Record<string, string>>
      /** How to log in, if a header does not say who we are. Undefined: no login. */
      readonly login: LoginSettings | undefined
    }
