import type { EffectHistory, FileEffect, PathEffect, PathState, PermitChanges } from '../base/effects.ts'
import type { ToolFailure } from '../base/errors.ts'
import type { Network, Pages } from './network.ts'
import type { Profile } from '../base/profile.ts'
import type { Artifact } from '../base/result.ts'

/** The only way to a side effect. One for a runtime; `enter` binds it to what one call may touch. */
export interface Sandbox {
  /** How commands are kept in; `custom` for a sandbox of the host program's own. Files and searches are kept inside the roots in every kind. */
  readonly kind: SandboxKind | 'custom'
  /** Services bound to a profile. With `access: 'read'`, their writing operations refuse. */
  enter(
    profile: Profile,
    options: {
      access: 'read' | 'write'
      signal?: () => AbortSignal
      /** Told of the CPU time of each program that ended, in milliseconds, where the system tells. */
      onCpuMs?: (cpuMs: number) => void
      /** Globs of what programs must not see; absent: they see all that lies in the roots. */
      hidden?: () => readonly string[]
      /** Asked before a host is connected to. Rejects with a `ToolFailure` where the call may not. Absent: what the profile covers. */
      permitHost?: PermitHost
      /** Asked before what a program wrote lands. Absent: all that the sandbox itself lets land does. */
      permitChanges?: PermitChanges
      /**
       * What programs write is held back until it may land: `required`, or none of them runs; `preferred`, if this machine can do that. Absent: if the
       * sandbox does so by itself.
       */
      hold?: Hold
      /** Keeps what is replaced or removed. Absent: nothing is kept. */
      history?: EffectHistory
      /** What a program of the operator has for itself, beside what the profile says. */
      own?: ProgramOwn
    },
  ): SandboxServices
  /** Where a folder that a program has for itself lies, for programs that run as another user. Absent: where it is asked for. */
  ownFolder?(path: string): string
  /** What holds on this machine, in words, for `serve` and `explain`. */
  describe(): string
  close(): Promise<void>
}

/** Whether what programs write has to be held back until it may land, or is if that can be done. */
export type Hold = 'required' | 'preferred'

/** The project that a sandbox is opened for. */
export interface SandboxPlace {
  /** Absolute path of the project root. */
  readonly project: string
  /** Absolute path of the home directory. */
  readonly home: string
  /** All of the environment that programs get, allow-listed already. */
  readonly env: Readonly<Record<string, string>>
}

/** Opens a sandbox of the host program's own around one project. The runtime closes it. */
export type OpenSandbox = (place: SandboxPlace) => Sandbox

/**
 * `bubblewrap` isolates commands from the machine, and so does what `sandbox-runtime` writes, on macOS too; on the `host` they can do
 * what their user can.
 */
export type SandboxKind = 'bubblewrap' | 'sandbox-runtime' | 'host'

/** What one program of the operator has for itself. Nothing in its folders is hidden or guarded, and no other program sees them. */
export interface ProgramOwn {
  /** Its home, made where it is not there, and given to the user that it runs as. */
  readonly home?: string | undefined
  /** Further folders of the same kind. */
  readonly write: readonly string[]
  /** Folders and files that it only reads. */
  readonly read: readonly string[]
  /** Folders like its home that lie over ones that it reads, where the sandbox can do that. */
  readonly over?: readonly { readonly folder: string; readonly at: string }[] | undefined
  /** What of the own network it may reach beside what the configuration says: names and addresses, each with its port. */
  readonly hosts: readonly string[]
}

/** Lets a call reach a URL of a host, or rejects with a `ToolFailure`. */
export type PermitHost = (reached: { host: string; url: string }) => Promise<void>

export interface SandboxServices {
  files: Files
  search: Search
  commands: Commands
  network: Network
  pages: Pages
}

export interface FileStat {
  kind: 'file' | 'directory' | 'link' | 'other'
  size: number
  mtimeMs: number
  /** When the file or what is said of it was last changed, by the clock of the system: programs cannot set it. */
  ctimeMs: number
  /** Permission bits, 0 to 0o777. */
  mode: number
  /** Device and inode, for identity. */
  dev: number
  ino: number
}

export interface DirectoryEntry {
  /** Relative to the listed directory, with `/`. */
  path: string
  kind: FileStat['kind']
  size: number
}

/** A file, link or directory with all below it, as it was when it was surveyed. */
export interface Tree {
  /** Absolute, with the links of its directory resolved; a link is itself. */
  path: string
  /** Its top, with an empty path, then all below it, each directory before what is in it. */
  entries: readonly DirectoryEntry[]
  /** How many of them are regular files, and the bytes of these together. */
  files: number
  bytes: number
  /** Of every name and what it stood for. It is another one after any change of anything. */
  digest: string
}

/** How large a tree may be for one operation. Above, the operation does nothing. */
export interface TreeBounds {
  /** Its top and all below it. */
  maxEntries: number
  maxDepth: number
}

/** A place to put something in, and what must be there just before. */
export interface TreeTarget extends TreeBounds {
  /** The digest of what is moved or copied, as its survey gave it; otherwise it fails with `stale_preview`. */
  expect: string
  /** Nothing, or a file or link with this digest, which is replaced in one step. Otherwise `path_conflict` or `stale_preview`. */
  replace: 'absent' | { digest: string }
  createDirs: boolean
}

/**
 * Files inside the roots of a profile. Paths may be absolute or relative to the project root. Every operation works through a
 * descriptor whose place was checked after it was opened, so that no link and no race leads outside; a link that stays
 * inside the roots is followed. Refusals are `ToolFailure`s with `SANDBOX.CAPABILITY_BLOCKED`.
 */
export interface Files {
  /** The absolute path with links resolved, whether or not the file exists. Refuses what lies outside the roots. */
  resolve(path: string, purpose: 'read' | 'write'): Promise<string>
  /** The same for a name itself: where it is a link, it is not followed. */
  resolveEntry(path: string, purpose: 'read' | 'write'): Promise<string>
  /** Undefined if nothing is there. */
  stat(path: string): Promise<FileStat | undefined>
  /** The whole of a regular file. Fails with `file_too_large` over `maxBytes`, counted in bytes read. */
  read(path: string, options?: { maxBytes?: number }): Promise<{ bytes: Uint8Array; stat: FileStat }>
  /** A regular file piece by piece; stop reading and it is closed. */
  chunks(path: string): AsyncIterable<Uint8Array>
  /** Entries in name order. Never leaves the directory through a link. */
  list(
    path: string,
    options: { recursive: boolean; limit: number; maxDepth?: number },
  ): Promise<{ entries: DirectoryEntry[]; truncated: boolean }>
  /**
   * Replaces or creates a regular file in one step (temporary file, sync, rename), keeping the mode of an existing one.
   * `expect` is what must be there just before the rename: `absent`, or the digest of the old content, `sha256:` and its 64 hex digits; otherwise it
   * fails with `stale_preview` (or `path_conflict` for `absent`) and nothing is written.
   */
  write(
    path: string,
    bytes: Uint8Array,
    options: { createDirs: boolean; expect: 'absent' | { digest: string } },
  ): Promise<FileStat>
  /**
   * What is at a path and all below it; undefined if nothing is there. Links are named, not followed, a link at the path itself
   * neither. Fails over the bounds, for special files, and where something is mounted below. `purpose` is what it is looked at for:
   * what is to be moved or removed must lie where the call may write, and hold nothing protected.
   */
  survey(path: string, options: TreeBounds & { purpose: 'read' | 'write' }): Promise<Tree | undefined>
  /**
   * Copies a tree: all of it or nothing. Links are copied as links. Set-id and sticky bits are left out, the owner is that of the folder.
   */
  copy(from: string, to: string, options: TreeTarget): Promise<void>
  /**
   * Moves a tree: in one step within a file system, else as a whole copy after which the old one is removed. Nothing is ever at
   * neither place. Never moves a root.
   */
  move(from: string, to: string, options: TreeTarget): Promise<void>
  /**
   * Removes a tree, links themselves and not what they lead to. Never removes a root. Fails with `not_empty` for a directory with
   * something in it unless `recursive`, and with `partly_done` where it stopped in the middle.
   */
  remove(path: string, options: TreeBounds & { expect: string; recursive: boolean }): Promise<void>
  /** What is at a path that the call may write, a link itself and not what it leads to. Of a folder not what is in it. */
  state(path: string): Promise<PathState>
  /**
   * Puts each path from the state `before` into the state `after`, all of them or none; a folder that goes must be empty once the other paths are gone.
   * `open` reads what had a digest, from its start. Fails with `stale_preview` or `path_conflict` if a path is in another state, or its folder is another
   * one. Whenever this process is killed, either all of it stands, or the next one takes back what does.
   */
  restore(effects: readonly PathEffect[], open: (digest: string) => AsyncIterable<Uint8Array>): Promise<void>
}

export interface SearchRequest {
  /** Rust regular expression, as ripgrep takes it. Undefined lists files by `glob` only. */
  pattern: string | undefined
  /** File or directory to search, absolute or relative to the project root. */
  path: string
  glob?: string
  type?: string
  mode: 'content' | 'files' | 'count'
  caseInsensitive?: boolean
  before?: number
  after?: number
  multiline?: boolean
  limit: number
  /** How many folders deep below the path; default as deep as there is. */
  maxDepth?: number
  /** `mtime` orders files newest first and needs the whole list. */
  order?: 'path' | 'mtime'
  /** Globs that are left out, such as sensitive paths. Matched without regard to letter case. */
  exclude: readonly string[]
}

export interface SearchHit {
  /** Relative to the searched directory's project root where it lies inside it, else absolute. */
  path: string
  /** 1-based; absent for files and counts. */
  line?: number
  text?: string
  /** True for a line of context. */
  context?: boolean
  count?: number
}

/** Search with ripgrep, without its configuration, never through links, never with a shell. */
export interface Search {
  find(request: SearchRequest): Promise<{ hits: SearchHit[]; truncated: boolean }>
}

/** What a stream of a command left: whole when small, else head and tail with the whole in `artifact`. */
export interface CapturedOutput {
  head: string
  tail: string
  bytes: number
  truncated: boolean
  artifact?: Artifact
}

export interface CommandOutcome {
  /** Null if a signal ended the program. */
  exitCode: number | null
  signal: string | null
  stdout: CapturedOutput
  stderr: CapturedOutput
  ended: 'exit' | 'timeout' | 'abort'
  durationMs: number
  /** Descendants that could not be shown to be dead; empty if the whole tree is gone. */
  survivors: readonly number[]
  /** Protected paths that it made, such as a git hook: they were renamed, so that nothing runs or obeys them. */
  setAside?: readonly string[]
  /** Protected paths that it says it could not change, since commands find them read-only. */
  withheld?: readonly string[]
  /** Protected paths that another program replaced while it ran, from when on they were not read-only for it. */
  replaced?: readonly string[]
  /** Sensitive paths that it asked for, or could not move or remove, since commands find them empty. */
  emptied?: readonly string[]
  /** What it would have changed, if its files were to stay as they were. Each folder before what is in it. */
  readonly changes?: readonly FileEffect[]
  /** What it changed, if that was held back until it could land. */
  readonly landed?: readonly FileEffect[]
  /** Sockets and pipes that it made, which do not land. */
  readonly leftOut?: readonly string[]
  /** What of the files of a program that goes on did not land, and why. */
  readonly heldBack?: readonly HeldBack[]
  /** It failed, and says what the layer that holds its changes back makes fail: it renames a folder that was there, or changes a file of another group. */
  readonly layerInTheWay?: boolean
  /** Why nothing of what it wrote was kept, though it was no dry run. */
  readonly notLanded?: ToolFailure
  /** What it asked of the network; absent if its call covers no host, or nothing isolates it. */
  network?: CommandNetwork
}

/** A path that a program wrote and that did not land. */
export interface HeldBack {
  /** Absolute. */
  readonly path: string
  readonly reason: string
}

/** What a command asked of the proxy in front of the network, each host once. */
export interface CommandNetwork {
  /** `host:port` of the servers that it was connected to. */
  reached: readonly string[]
  /** What it was not connected to, and the reason. */
  refused: readonly { host: string; reason: string }[]
}

/** Where a command's large output goes while it runs. */
export interface ArtifactSink {
  open(about: { mimeType: string; name?: string }): ArtifactWriter
}

export interface ArtifactWriter {
  /** The bytes are there only while it runs: what is kept of them has to be copied. */
  write(bytes: Uint8Array): void
  finish(): Promise<Artifact>
  abandon(): Promise<void>
}

/** Programs, by argv, never through a shell, with an environment of allow-listed variables only. */
export interface Commands {
  /**
   * Patterns of the hosts that the call covers. An isolated program reaches them through a proxy that judges each connection, and nothing
   * else: a plan names them.
   */
  readonly hosts: readonly string[]
  /** Whether `dryRun` is understood. A sandbox that does not say so is never asked for one. */
  readonly dryRuns?: boolean
  /**
   * Whether what a program of this call writes can be held back until it may land. A sandbox that does not say so lets it be in force at once.
   */
  readonly canHold?: () => Promise<boolean>
  /**
   * The name of the user that programs run as, if it is another one than Handrail's own and may not write in a folder. A sandbox without such a user says
   * nothing.
   */
  readonly keptOut?: (folder: string) => Promise<string | undefined>
  /** Whether programs are isolated from the machine. Where they are not, they can do what their user can. */
  readonly isolated: boolean
  /** The executable that `argv0` means in `cwd`, with links resolved; undefined if there is none. */
  which(argv0: string, cwd: string): Promise<string | undefined>
  /**
   * Runs a program to its end, time-out or abort, and ends its whole tree. `maxBytes` is kept of each stream (`maxStderrBytes` of
   * stderr, where it is given), the rest goes to the sink. `env` are variables that the operator declared for this program; one
   * that all programs get is not replaced. Never rejects for what the program does; rejects with a `ToolFailure` where it
   * cannot be started.
   */
  run(command: {
    executable: string
    argv: readonly string[]
    cwd: string
    timeoutMs: number
    maxBytes: number
    maxStderrBytes?: number
    signal: AbortSignal
    /** Text that it reads, or pieces of it as they come. */
    stdin?: string | AsyncIterable<Uint8Array>
    env?: Readonly<Record<string, string>>
    sink?: ArtifactSink
    /**
     * Its files stay as they were: what it writes is held back, told as `changes`, and gone. It reaches no host. Fails with
     * `SANDBOX.UNAVAILABLE` if the sandbox cannot hold it back.
     */
    dryRun?: boolean
    /**
     * Whether the caller reads `notLanded`. If not, and the program ended but its changes did not land, the promise rejects with the reason.
     */
    readsNotLanded?: boolean
    /**
     * It runs on beside other calls: what it writes is in force at once, or, if all has to be held back, each time that it was quiet for a while.
     */
    live?: boolean
    /** Told of each path that a program which runs on wrote, and that did not land. */
    onHeldBack?: (held: HeldBack) => void
    /** Told of each host, once, that the guard of the network kept it from. */
    onRefused?: (host: string) => void
    /** Told once the program runs. */
    onStart?: () => void
    onOutput?: (chunk: { stream: 'stdout' | 'stderr'; text: string }) => void
  }): Promise<CommandOutcome>
}
