import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isInside } from '../../kit/match/is-inside.ts'
import { makeTemporaryFolder } from '../leftovers/temporary-folder.ts'
import { findProgram } from '../programs/find-program.ts'
import type { Launcher } from '../programs/launcher/create-launcher.ts'
import { whenClosed } from '../programs/launcher/when-closed.ts'
import { startProgram } from '../programs/start-program.ts'
import type { Change } from './change.ts'
import { noLayer } from './layer-failure.ts'
import {
  openOverlayNamespace,
  systemPath,
  type NamespacePrograms,
  type Program,
} from './overlay-namespace.ts'
import { readChanges, type LayeredRoot } from './read-changes.ts'

/** Holds what a command writes below its write roots: the files there stay as they were. Disposing of it removes what it holds. */
export interface Layer extends AsyncDisposable {
  /** How a program is started, by this process's own user, so that it runs as the one of the sandbox and writes into the layer. */
  readonly wrap: (program: Program) => Program
  /** By which path this process sees what the command sees at a path. */
  readonly seen: (path: string) => string
  /** What the command changed. Call it when no process of the command is left. */
  read(): Promise<readonly Change[]>
}

/** What a layer lies over, and for whom. */
export interface LayerRequest {
  /** Write roots, links resolved; none lies in another one. */
  readonly roots: readonly string[]
  readonly user: { readonly uid: number; readonly gid: number; readonly other: boolean }
  readonly launcher: Launcher | undefined
}

/** Opens a layer over these roots. Fails with `SANDBOX.UNAVAILABLE` if this machine has no means for it, or something lies in its way. */
export async function openLayer({ roots, user, launcher }: LayerRequest): Promise<Layer> {
  const hindrance = findHindrance(roots)
  if (hindrance !== undefined) throw noLayer(hindrance)
  const programs = requirePrograms()
  const folder = makeTemporaryFolder()
  try {
    for (const [at, root] of roots.entries()) prepare(folder, at, root)
    const namespace = await openOverlayNamespace({
      folder,
      count: roots.length,
      programs,
      user,
      launcher,
    })
    const layered: LayeredRoot[] = roots.map((root, at) => ({
      root,
      upper: join(folder, `upper${at}`),
      merged: namespace.seen(root),
    }))
    return {
      wrap: namespace.wrap,
      seen: namespace.seen,
      async read() {
        const changes = await Promise.all(layered.map(readChanges))
        return changes.flat()
      },
      async [Symbol.asyncDispose]() {
        await namespace.close()
        await removeFolder(folder, launcher)
      },
    }
  } catch (error) {
    await removeFolder(folder, launcher)
    throw error
  }
}

/** What an overlay of one root is made of. In the layer the root has the owner and the permissions that it has. */
function prepare(folder: string, at: number, root: string): void {
  symlinkSync(root, join(folder, `root${at}`))
  const [upper, work] = [join(folder, `upper${at}`), join(folder, `work${at}`)]
  mkdirSync(upper)
  mkdirSync(work)
  const { uid, gid, mode } = lstatSync(root)
  if (process.geteuid?.() === 0) chownSync(upper, uid, gid)
  chmodSync(upper, mode & 0o7777)
}

/** Why nothing can be layered over these roots; undefined if it can be tried. */
function findHindrance(roots: readonly string[]): string | undefined {
  if (process.platform !== 'linux') return `it takes Linux, not ${process.platform}`
  const temporary = realpathSync(tmpdir())
  const mounts = mountPoints()
  for (const root of roots) {
    if (isInside(temporary, root)) return `the folder for temporary files "${temporary}" lies in "${root}"`
    const mount = mounts.find((each) => each !== root && isInside(each, root))
    if (mount !== undefined) return `another file system is mounted at "${mount}"`
  }
  return undefined
}

/** As proc_pid_mountinfo(5) has them, in its fifth field. */
function mountPoints(): string[] {
  return readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map((path) =>
      path.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8))),
    )
}

function requirePrograms(): NamespacePrograms {
  const find = (name: string): string => {
    const program = findProgram(name, { cwd: '/', path: systemPath })
    if (program?.executable === true) return program.path
    throw noLayer(`the program "${name}" is not installed`)
  }
  return { unshare: find('unshare'), nsenter: find('nsenter'), sh: find('sh') }
}

/** By programs of the system: they know names that are not text, and paths of any length, and this process goes on meanwhile. */
async function removeFolder(folder: string, launcher: Launcher | undefined): Promise<void> {
  const { sh } = requirePrograms()
  const remover = await startProgram({
    executable: sh,
    argv: ['sh', '-c', 'chmod -R u+rwX -- "$1"; rm -rf -- "$1"', 'sh', folder],
    cwd: '/',
    env: { PATH: systemPath, LC_ALL: 'C' },
    launcher,
  })
  remover.stdout.resume()
  remover.stderr.resume()
  await whenClosed(remover)
}
