import type { Readable, Writable } from 'node:stream'

/** What to start, as whom, where and with what environment. */
export interface StartRequest {
  /** Absolute path. */
  readonly executable: string
  /** `argv[0]` is the name that the program sees, the rest are its arguments. */
  readonly argv: readonly string[]
  /** A path below `/proc/self/fd` is a directory that this process holds. */
  readonly cwd: string
  /** All of the program's environment. */
  readonly env: Readonly<Record<string, string>>
  /** Whom the program runs as; default this process's own user. */
  readonly identity?: { readonly uid: number; readonly gid: number } | undefined
  /** Whether the caller writes to its standard input; default it reads from nothing. */
  readonly input?: boolean | undefined
  /** What it finds from descriptor 3 on. */
  readonly descriptors?: readonly Descriptor[] | undefined
  /** `NAME=value` in its environment, by which what it starts can be found. */
  readonly marker?: string | undefined
  /** Whether all of its process group ends with it. */
  readonly together?: boolean | undefined
  /** Whether to tell its CPU time. */
  readonly metered?: boolean | undefined
}

/** A file that the program reads, opened for it alone; a place that is held and not read; or a pipe to this process. */
export type Descriptor = 'pipe' | { readonly file: string } | { readonly place: string }

/** A started program: the leader of a session and process group of its own. */
export interface Started {
  readonly pid: number
  /** What was seen of it at its start, if it was given a marker: later it may be gone, and what it started not. */
  readonly seen?: Seen | undefined
  /** Where it was asked for. */
  readonly stdin: Writable | undefined
  readonly stdout: Readable
  readonly stderr: Readable
  /** What it writes to those of its descriptors that are pipes, in their order. */
  readonly pipes: readonly Readable[]
  /** When the program itself has ended; what it started may go on and its output may still come. Never rejects. */
  readonly exited: Promise<Exit>
  /** How it ended; undefined while it runs. */
  readonly exit: () => Exit | undefined
  /** Closes its streams, and lets this process end although the program has not. */
  release(): void
}

/** What tells the processes of a program from others, beside its marker. */
export interface Seen {
  /** When it started, in clock ticks; undefined if that is not known. */
  readonly startedAt: number | undefined
  /** The unnamed sockets or pipes that its output goes to, as `/proc` names them. */
  readonly outputs: readonly string[]
}

/** How a program ended. */
export interface Exit {
  /** Null if a signal ended it, or if it is not known. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** CPU time of the program and of what it waited for, in milliseconds; 0 where it was not asked for or the system does not tell. */
  readonly cpuMs: number
  /** What started it has ended, so that no more is known of it. */
  readonly lost: boolean
}

/** Starts a program without a shell. Rejects with the error of the operating system where that refuses. */
export type Start = (request: StartRequest) => Promise<Started>
