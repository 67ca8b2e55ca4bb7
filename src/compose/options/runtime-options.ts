import type { Approver } from '../../contract/approval.ts'
import type { Configuration, ProjectConfiguration, UndoConfiguration } from '../../contract/configuration.ts'
import type { DecisionPoint } from '../../contract/decision-point.ts'
import type { RuntimeEvent } from '../../contract/events.ts'
import type { Hook } from '../../contract/hook.ts'
import type { ElicitationHandler } from '../../contract/base/elicitation.ts'
import type { Policy } from '../../contract/policy.ts'
import type { MemoryOptions } from '../../contract/services/memory.ts'
import type { DuplicatePolicy } from '../../contract/registry.ts'
import type { ArtifactStore, Store } from '../../contract/store.ts'
import type { CallObserver, TelemetryOptions } from '../../contract/telemetry.ts'
import type { OpenSandbox } from '../../contract/services/sandbox.ts'
import type { Tool, ToolSource } from '../../contract/tool/tool.ts'
import type { AgentOptions } from './agent-options.ts'
import type { ToolFeed } from '../../contract/mcp/tool-feed.ts'

/** What `createRuntime` takes. Everything is optional; unknown fields are refused. */
export interface RuntimeOptions extends Omit<
  Configuration,
  | '$schema'
  | 'hooks'
  | 'webSearch'
  | 'mcpRegistry'
  | 'triggers'
  | 'modelSettings'
  | 'shell'
  | 'toolGroups'
  | 'agents'
  | 'workerPools'
  | 'skills'
  | 'caplets'
  | 'codeMode'
  | 'memory'
  | 'commands'
  | 'languageServers'
  | 'a2a'
  | 'sandbox'
  | 'undo'
> {
  /** The project root. Default: the current directory. Must exist. */
  project?: string
  /** Tools, and sources of tools such as `codeTools()`. Default: none. */
  tools?: readonly (Tool | ToolSource)[]
  /** What brings tools while the runtime lives, such as `mcpTools()`. Default: none. */
  feeds?: readonly ToolFeed[]
  /** Rules beside the safe defaults. Default: none, so that every write asks. */
  policy?: Policy
  /** What the project's own file says; it can only tighten. */
  projectConfiguration?: ProjectConfiguration
  /** Asks a person. Without it, what needs asking is denied. */
  approve?: Approver
  /** Answers what calls ask before they go on. Without it, that is declined. */
  elicit?: ElicitationHandler
  /** `memory` (default) keeps the last 10,000 records; a path keeps all in SQLite. A store of your own is closed with the runtime. */
  store?: 'memory' | { path: string } | Store
  /** Where large outputs go: a folder, or a store of your own. Default: memory, or `artifacts` beside the SQLite file. */
  artifacts?: { dir: string } | ArtifactStore
  /**
   * What is kept so that calls can be taken back, as in the configuration; `dir` says where. Default: beside the SQLite file, with
   * `.history` at the end of its name; nothing for any other store.
   */
  undo?: boolean | (UndoConfiguration & { dir?: string })
  /** What isolates commands, as in the configuration; or a function that opens a sandbox of your own for each project. */
  sandbox?: Configuration['sandbox'] | OpenSandbox
  /**
   * Where the run archive is written: each session, and each run of an agent, in `runs/<id>` there. A log there has `logBytes` at most (64 MiB). Default:
   * nowhere.
   */
  archive?: { dir: string; logBytes?: number }
  /** Where the keys are that sign the evidence, a folder for each store; made on first use. Default: nothing is signed. */
  signing?: { dir: string }
  /** Hooks in code, and command hooks as the configuration file has them. */
  hooks?: readonly (Hook | NonNullable<Configuration['hooks']>[number])[]
  /** Values that tools may ask for by name; redacted wherever they turn up. */
  secrets?: Readonly<Record<string, string>>
  /** Further services that tools may name in `needs`. */
  services?: Readonly<Record<string, unknown>>
  /**
   * Where requests reach `runtime.receiveCallback`, such as `https://hooks.example.com/jobs`: long tools find the address of their job below it. Default:
   * they have no callback.
   */
  callbacks?: { url: string }
  /** Where memory is, for the tools of `memoryTools`. Default: nowhere. */
  memory?: MemoryOptions
  /** With what agents work that tools start. */
  agents?: AgentOptions
  /** Further policy decision points; a call runs only if all permit. */
  decisionPoints?: readonly DecisionPoint[]
  /** Default `error`. */
  duplicates?: DuplicatePolicy
  /** Sees every event of every session. */
  onEvent?: (event: RuntimeEvent) => void
  /** Spans and metrics through OpenTelemetry; `true` takes the global providers. Default: none, and nothing of it is loaded. */
  telemetry?: boolean | TelemetryOptions
  /** Told of every call, for traces and metrics of your own. */
  observers?: readonly CallObserver[]
  /** Gets causes that no caller may see. Default: one line on stderr each. */
  onError?: (error: { call: string; tool: string; cause: unknown }) => void
  /** Returns all addresses of a host name, for the network. Default: the resolver of the system. */
  lookup?: (host: string) => Promise<readonly string[]>
  /** What `~` means. Default: the user's home directory. */
  home?: string
  /** Milliseconds since the epoch. Default: the system clock. */
  now?: () => number
}

/** Names of all options. */
export const runtimeOptionFields: readonly (keyof RuntimeOptions)[] = [
  'project',
  'tools',
  'feeds',
  'policy',
  'projectConfiguration',
  'approve',
  'elicit',
  'store',
  'artifacts',
  'undo',
  'archive',
  'signing',
  'hooks',
  'secrets',
  'services',
  'callbacks',
  'agents',
  'memory',
  'decisionPoints',
  'duplicates',
  'onEvent',
  'telemetry',
  'observers',
  'onError',
  'lookup',
  'home',
  'now',
  'readRoots',
  'writeRoots',
  'tmp',
  'sensitivePaths',
  'env',
  'instructionFiles',
  'sandbox',
  'network',
  'limits',
  'overlapCalls',
  'allowedTools',
  'disallowedTools',
  'deferredTools',
]
