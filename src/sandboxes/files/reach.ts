import type { EffectHistory, PermitChanges } from '../../contract/base/effects.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { Profile } from '../../contract/base/profile.ts'
import type { Hold, ProgramOwn } from '../../contract/services/sandbox.ts'
import type { Launcher } from '../programs/launcher/create-launcher.ts'
import type { NetworkProxy, ProxyPlace } from '../network/base/network-entry.ts'
import { aborted } from './aborted.ts'
import type { PathsByFile } from './file-key.ts'
import type { Roots } from './roots.ts'

/** What one call reaches, and how far. */
export interface Reach {
  readonly profile: Profile
  /** Globs of what programs must not see, as they are now. */
  hidden(): readonly string[]
  /** The files that these globs name and that have other names too. */
  hiddenFiles(): Promise<PathsByFile>
  /** Absolute path of the project root; relative paths start there. */
  readonly project: string
  readonly home: string
  /** The project root with links resolved. */
  realProject(): string
  readonly read: Roots
  readonly write: Roots
  /** Real paths that the call does not reach, though they may lie in its roots. */
  readonly withheld: readonly string[]
  readonly access: 'read' | 'write'
  readonly executables: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly limits: HostLimits
  /** What starts programs; default this process itself. */
  readonly launcher: Launcher | undefined
  /** What the program of the operator that this is for has for itself. */
  readonly own: ProgramOwn | undefined
  /** Asked before what a program wrote lands. */
  readonly permitChanges: PermitChanges | undefined
  /** Whether the call needs what programs write to be held back, or prefers it. */
  readonly hold: Hold | undefined
  /** Keeps what is replaced or removed. */
  readonly history: EffectHistory | undefined
  /** Told of the CPU time of each program that ended, in milliseconds. */
  readonly onCpuMs: ((cpuMs: number) => void) | undefined
  /** Signals that end what the call does, as they are now. */
  readonly signals: () => readonly AbortSignal[]
  /** A proxy to the hosts of the profile. Close it. */
  openProxy(place: ProxyPlace): Promise<NetworkProxy>
  /** Told when a tool of this call has put files elsewhere, or may have. */
  readonly moved: () => void
  /** When what killed processes left has been cleared away. */
  readonly swept: Promise<void>
  /** Lets the sandbox wait for this work before it closes. */
  track<T>(work: Promise<T>): Promise<T>
}

/** Bounds of the host sandbox. */
export interface HostLimits {
  /** Bytes of a file that is read as a whole, where the caller names no bound. Default 64 MiB. */
  readBytes: number
  /** Names read from one directory. Default 100,000. */
  directoryNames: number
  /** Text of all hits of a search together, in bytes. Default 2 MiB. */
  searchBytes: number
  /** How long a process may take to end after it was asked to. Default 500. */
  graceMs: number
}

/** The bounds with defaults filled in. */
export function resolveHostLimits(limits: Partial<HostLimits> = {}): HostLimits {
  return {
    readBytes: 64 * 1024 * 1024,
    directoryNames: 100_000,
    searchBytes: 2 * 1024 * 1024,
    graceMs: 500,
    ...limits,
  }
}

/** Fails if the call may only read. */
export function requireWriting(reach: Reach, what: string): void {
  if (reach.access === 'write') return
  throw new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'undeclared_capability',
    message: `This call may only read, so it may not ${what}. Use a tool that declares it.`,
  })
}

/** Fails if the call was ended from outside. */
export function stopIfAborted(reach: Reach): void {
  if (reach.signals().some((signal) => signal.aborted)) throw aborted()
}
