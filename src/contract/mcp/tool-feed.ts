import type { JsonObject } from '../base/json.ts'
import type { ProgramOwn } from '../services/sandbox.ts'
import type { Tool, ToolDefinition, ToolSource } from '../tool/tool.ts'

/**
 * Tools that come and go while a runtime lives, such as those of MCP servers. It is opened by the runtime that it is handed to, once,
 * and closed with it.
 */
export interface ToolFeed {
  readonly id: string
  /** Never waits for anything outside of the process. */
  open(host: FeedHost): Promise<OpenFeed>
}

/** A feed at work. */
export interface OpenFeed {
  /**
   * Resolves when everything that is seen for the first time has shown its tools, or turned out not to answer; at the latest after
   * `withinMs`.
   */
  settled(withinMs: number): Promise<void>
  /** Ends what it holds. Calls that run on it fail. */
  close(): Promise<void>
}

/** What a feed stands on. */
export interface FeedHost {
  /** A secret of the runtime; undefined if it was not given. */
  secret(name: string): string | undefined
  readonly programs: Programs
  readonly web: Web
  /** The definitions that this source had when it was last seen: as they were approved, or as they wait for it. */
  remembered(source: string): readonly ToolDefinition[]
  /** Whether it had any, which is known without reading them. */
  knowsOf(source: string): boolean
  /** Puts tools in the place of those of the same name, and takes some away. */
  change(change: FeedChange): Promise<void>
  /**
   * Takes the tools of a source out of the lists of a tenant for as long as nothing answers behind them, or puts them back. Nothing is kept
   * of it, and nothing that the operator said of them is touched.
   */
  setOutage(outage: SourceOutage): void
  /** Throws a `ToolFailure` if a person paused this source for a tenant, or for this actor of it: then nothing is asked of it. */
  refuseIfPaused(about: { readonly source: string; readonly tenant: string; readonly actor: string }): void
  /**
   * Redacts these wherever they turn up from now on, in the place of what was said of the same thing before; what was said last of it stays
   * redacted beside them.
   */
  hide(about: string, secrets: readonly string[]): void
  /** The text without any secret of the runtime, or that was hidden. */
  redact(text: string): string
  /** The same for every text inside of a value. */
  redactJson(value: JsonObject): JsonObject
  /** Says something that the operator should know. */
  report(source: string, message: string): void
}

/** Whether anything answers behind the tools of a source. */
export interface SourceOutage {
  readonly source: string
  readonly tenant: string
  /** Why nothing does; undefined if it may. */
  readonly why: string | undefined
}

/** What became of the tools of one source. */
export interface FeedChange {
  readonly source: Omit<ToolSource, 'list' | 'quarantined'>
  /** New and changed ones. */
  readonly tools: readonly Tool[]
  /** What no tool could be made of, with what is wrong. */
  readonly faulty: NonNullable<ReturnType<NonNullable<ToolSource['quarantined']>>>
  /** Canonical names. */
  readonly removed: readonly string[]
  /** Only these tenants have them. Undefined: all. */
  readonly tenants: readonly string[] | undefined
}

/** Programs of the operator that run until they are ended, in the sandbox. */
export interface Programs {
  /** Starts a program by argv, never through a shell. Rejects with a `ToolFailure` where it cannot be started, and never falls back to less isolation. */
  open(request: ProgramRequest, listener: ProgramListener): Promise<LongProgram>
  /** The folders that such a program sees beside the programs of the machine, absolute. */
  seenBy(request: Pick<ProgramRequest, 'tenant' | 'cwd' | 'read' | 'write'>): readonly string[]
  /** Where a folder of its own lies for such a program, which may run as a user who does not come there. */
  ownFolder(tenant: string, path: string): string
}

/** A program to start. */
export interface ProgramRequest {
  /** Whose work it does. */
  readonly tenant: string
  /** `argv[0]` is a path, absolute or from `cwd`, or a name to look up. */
  readonly argv: readonly string[]
  /** Its working directory, which it sees. Undefined: the project of the tenant. */
  readonly cwd: string | undefined
  /** What it sees of the environment beside what all programs see. */
  readonly env: Readonly<Record<string, string>>
  /** Further folders that it sees, and those that it may write to: absolute, from `~/`, or `project`. */
  readonly read: readonly string[]
  readonly write: readonly string[]
  /** Patterns of the hosts that it may reach. An address of the own network that stands there with a port may be reached at that one. */
  readonly hosts: readonly string[]
  /** What it has for itself. Default: nothing, so that its home is gone with it. */
  readonly own?: ProgramOwn | undefined
}

/** Told of what a program says, whole letters at a time. */
export interface ProgramListener {
  onStdout(text: string): void
  onStderr(text: string): void
  /** Told of each host, once, that it asked for and does not reach. */
  onRefused?(host: string): void
}

/** A program that runs. */
export interface LongProgram {
  /** Resolves when the program took it, or rejects where it takes nothing any more. */
  write(text: string): Promise<void>
  /** Resolves when it is gone, however that came about. Never rejects. */
  readonly ended: Promise<{
    exitCode: number | null
    signal: string | null
    /** Why the sandbox could not hold it. */
    fault: string | undefined
  }>
  /** Ends it and everything that it started. */
  end(): Promise<void>
}

/** Servers of the operator. */
export interface Web {
  /**
   * Requests to one server, in the form of the web's own `fetch`, with bodies as they come. The server itself may lie in the own network,
   * as the operator named it; every other host is judged as for calls. No redirect is followed.
   */
  reach(url: string): OriginClient
}

/** A way to one server. */
export interface OriginClient {
  readonly request: (url: string | URL, init?: RequestInit) => Promise<Response>
  close(): Promise<void>
}
