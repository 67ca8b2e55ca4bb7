import { setMaxListeners } from 'node:events'
import { realpathSync } from 'node:fs'
import type { Commands, Sandbox } from '../../contract/services/sandbox.ts'
import type { Launcher } from '../programs/launcher/create-launcher.ts'
import { sweepLeftovers } from '../places/sweep-leftovers.ts'
import { createNetwork } from '../network/create-network.ts'
import type { NetworkEntry, NetworkOptions } from '../network/base/network-entry.ts'
import { createPages } from '../pages/create-pages.ts'
import { createHiddenFiles } from '../visible/hidden-files.ts'
import { createHiddenLook } from '../visible/hidden-look.ts'
import { createHostCommands } from './host-commands.ts'
import { createHostFiles } from './host-files.ts'
import { createHostSearch } from '../search/host-search.ts'
import { resolveHostLimits, type HostLimits, type Reach } from '../files/reach.ts'
import { createRoots, withoutPlaces, type RealRoots } from '../files/roots.ts'

/** What the host sandbox stands on. */
export interface HostSandboxOptions {
  /** Absolute path of the project root. */
  project: string
  /** All of the environment that programs get, allow-listed already. */
  env: Readonly<Record<string, string>>
  /** Absolute path of the home directory, for `~/` in globs that a search leaves out. */
  home: string
  limits?: Partial<HostLimits>
  /** Real paths that no call reaches, whatever its roots. */
  withheld?: readonly string[]
  /** What starts programs; the caller that made it closes it. Default: this process itself. */
  launcher?: Launcher
  /** Told when a tool has put files elsewhere, or may have. */
  onMoved?: () => void
  /** What runs the programs of a call. Default: this process, as its own user. */
  commands?: (reach: Reach) => Commands
  /** Default: the public internet, ports 80 and 443. */
  network?: NetworkOptions
}

/**
 * A sandbox on this machine without isolation by the operating system: files and searches stay inside the roots, programs run as
 * this process's user in a process group of their own and can do what that user can. Close it: that ends the programs
 * that still run.
 */
export function createHostSandbox(options: HostSandboxOptions): Sandbox {
  const { project, home, env, launcher, withheld = [], commands = createHostCommands } = options
  const limits = resolveHostLimits(options.limits)
  const known: RealRoots = new Map()
  const look = createHiddenLook({ home, path: env['PATH'] ?? '', launcher })
  const hiddenFiles = createHiddenFiles(look)
  const moved = () => {
    look.expire()
    options.onMoved?.()
  }
  const running = new Set<Promise<unknown>>()
  const network = createNetwork(options.network ?? {})
  const closing = new AbortController()
  // Each running program listens, however many there are.
  setMaxListeners(0, closing.signal)
  let realProject: string | undefined
  const swept = sweepLeftovers()
  return {
    kind: 'host',
    enter(
      profile,
      { access, signal, onCpuMs, permitHost, permitChanges, hold, history, own, hidden = () => [] },
    ) {
      const all = [...profile.readRoots, ...profile.writeRoots]
      const reach: Reach = {
        project,
        home,
        env,
        profile,
        hidden,
        hiddenFiles: () =>
          hiddenFiles({ globs: hidden(), places: reach.read.places(), signals: reach.signals() }),
        access,
        limits,
        launcher,
        own,
        history,
        executables: profile.executables,
        withheld,
        read: withoutPlaces(createRoots(profile.readRoots, all, known), withheld),
        write: withoutPlaces(createRoots(profile.writeRoots, all, known), withheld),
        onCpuMs,
        permitChanges,
        hold,
        swept,
        moved,
        realProject: () => (realProject ??= realpathSync.native(project)),
        track(work) {
          running.add(work)
          return work.finally(() => running.delete(work))
        },
        openProxy: (place) => network.openProxy(place, entry),
        signals: () => (signal === undefined ? [closing.signal] : [closing.signal, signal()]),
      }
      const entry: NetworkEntry = { profile, permitHost, ownHosts: own?.hosts, signals: reach.signals }
      return {
        files: createHostFiles(reach),
        search: createHostSearch(reach),
        commands: commands(reach),
        network: network.enter(entry),
        pages: createPages(reach.signals),
      }
    },
    describe: () => describeHost(),
    async close() {
      closing.abort()
      await Promise.allSettled([swept, ...running])
    },
  }
}

function describeHost(): string {
  const files =
    process.platform === 'linux'
      ? 'files by descriptor, safe against links and races'
      : 'files by name, safe against links, not against races'
  const user = process.getuid?.() === 0 ? 'as root' : "as this process's user"
  return `host: ${files}; programs run ${user}, ended as a tree, without isolation from the machine`
}
