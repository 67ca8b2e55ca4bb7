import { readFileSync } from 'node:fs'
import { delimiter } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import type { SandboxConfiguration } from '../../contract/configuration.ts'
import { findProgram } from '../programs/find-program.ts'
import type { Launcher } from '../programs/launcher/create-launcher.ts'
import { createLayers, type Layers } from '../layers/create-layers.ts'
import type { LayerWay } from '../layers/layer-namespace.ts'
import { createContents, type Contents } from './contents.ts'
import type { ProcessBounds } from './first-process.ts'
import { createHiddenAliases } from '../places/hidden-aliases.ts'
import { createHiddenLook, type HiddenLook } from '../visible/hidden-look.ts'
import { chooseHost, installBubblewrap, noSandbox } from './sandbox-fault.ts'
import { findSandboxUser, type SandboxUser } from './sandbox-user.ts'
import { seccompFilter } from './seccomp-filter.ts'
import { canEnter, foldersOf, readCopied, systemPlaces } from './system-places.ts'

/** What the sandboxes of one project have in common. Close it. */
export interface Isolation {
  readonly bounds: ProcessBounds & { readonly tmpBytes: number; readonly layerBytes: number }
  readonly contents: Contents
  /** Which commands are held back. */
  readonly hold: NonNullable<SandboxConfiguration['hold']>
  /** Which layers can be opened over roots, by these roots, once that was tried. */
  readonly ways: Map<string, Promise<TriedWay>>
  readonly layers: Layers
  /** What makes a sandbox here. Fails with `SANDBOX.UNAVAILABLE` where there is nothing. */
  require(): Means
  /** The same; undefined if there is nothing. */
  find(): Means | undefined
  /** What must not be seen. */
  readonly hidden: HiddenLook
  /** Other names of that. */
  readonly aliases: ReturnType<typeof createHiddenAliases>
  close(): Promise<void>
}

/** A kind of layer that can be opened; or why none can, on what ground. */
export type TriedWay =
  | { readonly way: LayerWay; readonly hindrance?: never }
  | { readonly way: undefined; readonly hindrance: ToolFailure; readonly ground: string }

/** Means to make a sandbox. */
export interface Means {
  /** Absolute path of bwrap. */
  readonly bwrap: string
  readonly user: SandboxUser
  /** The filter of system calls. */
  readonly filter: Buffer
  /** Arguments that lay the system. */
  readonly system: readonly string[]
  /** Files of the system that are copied, by their path. */
  readonly copied: { readonly [path: string]: Buffer }
  /** The directories of the search path that the user may enter. */
  readonly path: string
  /** Those outside of the system's own, and what lies beside them. */
  readonly folders: readonly string[]
}

/** What an isolation stands on. */
export interface IsolationOptions {
  readonly project: string
  readonly home: string
  readonly env: Readonly<Record<string, string>>
  readonly user: string | undefined
  readonly bounds: Isolation['bounds']
  readonly hold: Isolation['hold']
  /** What starts ripgrep, and what makes layers. */
  readonly launcher: Launcher | undefined
}

/** What the sandboxes of a project need. Looks for it when it is first asked for. */
export function createIsolation(options: IsolationOptions): Isolation {
  const { project, home, env, bounds } = options
  const contents = createContents()
  const layers = createLayers(options.launcher)
  let means: Means | undefined
  const need = () => (means ??= findMeans(project, env['PATH'] ?? '', options.user))
  return {
    bounds,
    contents,
    hold: options.hold,
    ways: new Map(),
    layers,
    require: need,
    find() {
      try {
        return need()
      } catch (error) {
        if (error instanceof ToolFailure) return undefined
        throw error
      }
    },
    hidden: createHiddenLook({ home, path: env['PATH'] ?? '', launcher: options.launcher }),
    aliases: createHiddenAliases(),
    async close() {
      await layers.close()
      contents.close()
    },
  }
}

/** What makes a sandbox on this machine. Fails with `SANDBOX.UNAVAILABLE`. */
export function findMeans(project: string, path: string, asked: string | undefined): Means {
  const { platform, arch } = process
  if (platform !== 'linux')
    throw noSandbox(
      'no_backend',
      `bubblewrap isolates commands on Linux only, not on ${platform}. ${chooseHost}`,
    )
  if (arch !== 'x64' && arch !== 'arm64')
    throw noSandbox('no_backend', `there is no filter of system calls for ${arch}. ${chooseHost}`)
  const bwrap = findProgram('bwrap', { cwd: '/', path })
  if (bwrap?.executable !== true)
    throw noSandbox(
      'missing_program',
      `bubblewrap isolates it, and is not installed. ${installBubblewrap} ${chooseHost}`,
    )
  if (!readFileSync(bwrap.path, 'latin1').includes('--bind-fd'))
    throw noSandbox(
      'missing_program',
      `"${bwrap.path}" is too old to be safe beside other commands: it knows no --bind-fd. Install bubblewrap 0.10 or later, or the one that your distribution mended. ${chooseHost}`,
    )
  const user = findSandboxUser(project, asked)
  if (typeof user === 'string') throw noSandbox('no_backend', user)
  const usable = path.split(delimiter).filter((folder) => canEnter(folder, user))
  return {
    bwrap: bwrap.path,
    user,
    filter: seccompFilter(arch),
    system: systemPlaces({ network: false }),
    copied: readCopied(),
    path: usable.join(delimiter),
    folders: usable.flatMap((folder) => foldersOf(folder, user)),
  }
}
