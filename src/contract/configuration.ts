import type { A2aConfiguration } from './a2a/agents.ts'
import type { CommandHook } from './hook.ts'
import type { JsonObject } from './base/json.ts'
import type { ProgramLimits } from './services/code-mode.ts'
import type { memoryModes } from './services/memory.ts'
import type { Review } from './tool/plan.ts'
import type { SandboxKind } from './services/sandbox.ts'

/** Limits that hold for every call; a tool's own limits may be lower, never higher. */
export interface RuntimeLimits {
  /** Default 120,000. */
  defaultTimeoutMs?: number
  /** Default 600,000. */
  maxTimeoutMs?: number
  /** Default 2 MiB. */
  maxBytesIn?: number
  /** Default 8 MiB. */
  maxBytesOut?: number
  /** Text of a result over this many bytes goes to an artifact. Default 32 KiB. */
  inlineBytes?: number
  /** What one call may leave as artifacts, altogether, and each job. Of a command's output the rest is not kept. Default 256 MiB. */
  artifactBytes?: number
  /** Read-only calls of one turn at a time. Default 10. */
  parallelReads?: number
  /** Agent-starting calls of one turn at a time. Default 4. */
  parallelAgents?: number
  /** Agent-starting calls of one session at a time, over all its turns. Default 8. */
  agentsPerSession?: number
  /** Calls of one session; default no limit. */
  callsPerSession?: number
  /** The same tool with the same input and the same result in one session, while nothing else is changed. Default 50. */
  repeatsPerSession?: number
  /** How long a person may take to say yes or no to a call. Default 600,000. */
  approvalTimeoutMs?: number
  /** How long a question that is kept for a person waits for their answer, and the answer for its call. Default 86,400,000 (a day). */
  pendingApprovalMs?: number
  /** How long an answer to what a call asks may take; the time limit of the call stands still meanwhile. Default 600,000. */
  elicitationTimeoutMs?: number
  /** How long a given approval holds before it is used. Default 60,000. */
  approvalTtlMs?: number
  /** How long a tool may take to react to its abort before it is reported as still running. Default 2,000. */
  abortGraceMs?: number
  /** How long a keyed result is given again. Default 86,400,000 (a day). */
  idempotencyWindowMs?: number
}

/** Which hosts calls may reach, whatever a policy lets through. */
export interface NetworkConfiguration {
  /** Names, `*.example.com` or `*`. Default: all. Empty: none. */
  hosts?: readonly string[]
  /** Ports beside 80 and 443. */
  ports?: readonly number[]
  /**
   * What of the own network may be reached: `intranet.example`, `*.corp.example`, `10.1.0.0/16`, `127.0.0.1:8888`. With a port, that one
   * only. Default: only addresses of the public internet.
   */
  privateHosts?: readonly string[]
}

/** The engine behind `web.search`. */
export interface WebSearchConfiguration {
  engine: 'searxng' | 'brave' | 'tavily'
  /** Required for `searxng`: where it is. For the others, the default is their own. */
  url?: string
  /** Name of the secret with the engine's key; on the command line, of an environment variable. */
  secret?: string
}

/** Something on another machine that a call of `remote.trigger` starts, by a POST with a JSON body. */
export interface TriggerConfiguration {
  url: string
  /** What it does, for the model. */
  description?: string
  /** Name of the secret that signs requests as Standard Webhooks says (`whsec_…`); on the command line, of an environment variable. */
  secret?: string
}

/** A setting that is open to models: what `internal.config` shows and, if `writable`, sets. */
export interface ModelSettingConfiguration {
  type: 'string' | 'number' | 'boolean'
  /** The values that there are. Default: all of the type; of a text at most 10,000 characters. */
  enum?: readonly (string | number | boolean)[]
  /** What it is as long as no call set it. */
  default?: string | number | boolean
  /** What it means, for the model. */
  description?: string
  /** Whether calls may set it. Default false. */
  writable?: boolean
}

/** What the commands of `code.run_command` and `code.run_shell` get beside what all commands get. */
export interface CommandsConfiguration {
  /** Hosts that isolated commands may reach: names, `*.example.com` or `*`. Default: none. */
  hosts?: readonly string[]
  /** Names of secrets that a program finds as environment variables, by the name that the program is called with. Default: none. */
  secrets?: Readonly<Record<string, readonly string[]>>
  /** Which changes of a command a person sees before they land, where the sandbox holds them back. Default `protected`. */
  review?: Review
}

/** Language servers that need no description, in the order in which they are tried. */
export const knownLanguageServers = ['typescript', 'rust', 'go', 'python', 'pylsp', 'clangd'] as const

/** A program that answers questions about code in the Language Server Protocol, over its standard streams. */
export interface LanguageServerConfiguration {
  /** Default true. */
  enabled?: boolean
  /** argv; no shell. Required but for names that are known. */
  command?: readonly string[]
  /** Endings of the files that it is asked about, such as `.ts`. Required but for names that are known. */
  extensions?: readonly string[]
  /** What it gets when it starts, beside the defaults of a known one. */
  initializationOptions?: JsonObject
  /** What it gets when it asks for its settings. */
  settings?: JsonObject
  /** How long it may take to answer. Default 20,000. */
  timeoutMs?: number
}

/** How commands are isolated, and what bounds the kernel holds for each command. */
export interface SandboxConfiguration {
  /** Default: what isolates on this platform, `sandbox-runtime` on macOS, else `bubblewrap`. Never `host` unless it is chosen. */
  kind?: SandboxKind
  /** Where Handrail runs as root: whom commands run as, a name or `uid:gid`. Default: the owner of the project, else `nobody`. Never root. */
  user?: string
  /** Memory of a command, of each process at once and of all together soon after, in bytes. Default 4 GiB. */
  memoryBytes?: number
  /** Processes and threads of a command together. Default 512. */
  processes?: number
  /** Size of a file that a process writes, in bytes. Default 4 GiB. */
  fileBytes?: number
  /** Size of the sandbox's own `/tmp`, in bytes. Default 512 MiB. */
  tmpBytes?: number
  /** What a command may write while it is held back, all files together, in bytes. Default 8 GiB. */
  layerBytes?: number
  /** CPU time of each process, in seconds. Default: no bound but the time limit of the call. */
  cpuSeconds?: number
  /**
   * Which commands' changes are held back until they may land, in bubblewrap. `asked`: of those that a person decides about, and of those that the
   * policy lets write less than their bounds; `auto`: of all, if this machine can do that; `always`: of all, and no command runs that cannot be held
   * back; `never`: of none. Default `asked`.
   */
  hold?: 'asked' | 'auto' | 'always' | 'never'
}

/** How long, and how much, what calls replace or remove is kept to be taken back. */
export interface UndoConfiguration {
  /** How long a call can be taken back. Default 7. */
  days?: number
  /** What is kept altogether, in bytes; the oldest calls go first. Default 1 GiB. */
  bytes?: number
  /** What is kept for one call at most, in bytes. One that replaces more is not taken back. Default 64 MiB. */
  callBytes?: number
}

/** Workers of one kind, which `agent.dispatch_worker` sets to steps of tasks. */
export interface WorkerPoolConfiguration {
  /** How many work at once, for each tenant. */
  size: number
  /** What its workers are for, for the model that dispatches them. */
  description?: string
  /** Id of an agent definition: its instructions, tools, bounds and model. Default: none. */
  definition?: string
  /** Names or patterns of tools that its workers ask for beside those of every worker. Default: those of the definition. */
  allowedTools?: readonly string[]
}

/** A model that calls and agent definitions may name. */
export interface NamedModelConfiguration {
  /** As `--model` takes it, such as `openai/gpt-5`. */
  model: string
  /** Where its provider answers. Default: where its package says. */
  baseUrl?: string
}

/** With what agents work that calls start. */
export interface AgentsConfiguration {
  /** By the names that calls and definitions use. Default: none, so that agents work with the model of who started them. */
  models?: { readonly [name: string]: string | NamedModelConfiguration }
}

/** Which skills of others there are. */
export interface SkillsConfiguration {
  /** Names of packages with skills, which lie in the `node_modules` of the project. Default: none. */
  packages?: readonly string[]
  /** Whether the skills of the project count. Default true. */
  project?: boolean
}

/** Whose caplets are taken. */
export interface CapletsConfiguration {
  /** Public keys of publishers, by names of the operator's own: 32 bytes of Ed25519, base64url. */
  publishers?: Readonly<Record<string, string>>
}

/** What models may keep for later sessions, in `<home>/memory`. */
export interface MemoryConfiguration {
  /** `candidate`: what a person or the extraction took is recalled later. `disabled`: models keep nothing. `external`: only a program can hand such a memory in. Default `candidate`. */
  mode?: (typeof memoryModes)[number]
}

/** Groups of built-in tools that there are only if they are asked for. */
export const toolGroups = [
  'agent',
  'code_mode',
  'memory',
  'plan',
  'schedule',
  'skill',
  'task',
  'user',
] as const

/** `<home>/config.json`. */
export interface Configuration {
  $schema?: string
  /** Further directories that tools may read. Absolute, or `~/…`. */
  readRoots?: readonly string[]
  /** Further directories that tools may read and write. */
  writeRoots?: readonly string[]
  /** Whether tools may write to the system's temporary directory. Default false. */
  tmp?: boolean
  /** Added to the built-in sensitive paths. */
  sensitivePaths?: readonly string[]
  /** Environment variables that commands see, beside PATH, HOME, TMPDIR, LANG and LC_ALL. */
  env?: readonly string[]
  /** Names of files that tell how to work in a project, beside `AGENTS.md` and `CLAUDE.md`. */
  instructionFiles?: readonly string[]
  hooks?: readonly CommandHook[]
  /** How commands are isolated; `"host"` is short for `{ "kind": "host" }`. */
  sandbox?: SandboxKind | SandboxConfiguration
  /** Whether there is `code.run_shell`, which runs command lines. Default false. */
  shell?: boolean
  /** Groups of built-in tools beside those for files, commands, jobs, artifacts and the web. Default: none. */
  toolGroups?: readonly (typeof toolGroups)[number][]
  /** Skills that agents may load, beside those of `<home>/skills`. */
  skills?: SkillsConfiguration
  /** Whose caplets are taken: tools that were packed and signed. Default: none are. */
  caplets?: CapletsConfiguration
  /** What one program of the group `code_mode` may take. */
  codeMode?: ProgramLimits
  /** What the tools of the group `memory` may keep. */
  memory?: MemoryConfiguration
  /** What commands may reach of the network, and the secrets that they get. */
  commands?: CommandsConfiguration
  /** With what agents work that calls start. */
  agents?: AgentsConfiguration
  /** Workers by the ids of their pools. Default: a pool `default` of 4. */
  workerPools?: { readonly [pool: string]: WorkerPoolConfiguration }
  /** What `code.lsp` asks, by name, beside the servers that it knows: `typescript`, `rust`, `go`, `python`, `pylsp`, `clangd`. */
  languageServers?: { readonly [name: string]: LanguageServerConfiguration }
  network?: NetworkConfiguration
  /** Agents of other domains, whose skills are tools here. Default: none. */
  a2a?: A2aConfiguration
  /** If absent, the tool `web.search` does not exist. */
  webSearch?: WebSearchConfiguration
  /** Where servers are searched for: the base address of a registry with the API of the official one. If absent, none is asked. */
  mcpRegistry?: string
  /** What the tool `remote.trigger` starts, by name. If absent, that tool does not exist. */
  triggers?: Readonly<Record<string, TriggerConfiguration>>
  /** Settings that are open to models, by key. If absent, the tool `internal.config` does not exist. */
  modelSettings?: Readonly<Record<string, ModelSettingConfiguration>>
  limits?: RuntimeLimits
  /** What is kept so that calls can be taken back. Default true; `false` keeps nothing. */
  undo?: boolean | UndoConfiguration
  /** Lets a write of a turn run beside earlier reads of it that touch something else. Default false: it runs alone. */
  overlapCalls?: boolean
  allowedTools?: readonly string[]
  disallowedTools?: readonly string[]
  /** Patterns of tools that models are not shown until `tools.search` finds them. Default: none. */
  deferredTools?: readonly string[]
}

/** `<project>/handrail.json`: may only tighten what the person configured. */
export interface ProjectConfiguration {
  $schema?: string
  sensitivePaths?: readonly string[]
  disallowedTools?: readonly string[]
  limits?: RuntimeLimits
  rules?: readonly {
    id?: string
    effect: 'ask' | 'deny'
    tools?: readonly string[]
    tags?: readonly string[]
    resources?: readonly string[]
    reason?: string
  }[]
}
