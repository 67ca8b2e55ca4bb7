import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileEffect } from '../../contract/base/effects.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import { requireProgram, systemPath } from './system-program.ts'
import type { Launcher } from '../programs/launcher/create-launcher.ts'
import { whenClosed } from '../programs/launcher/when-closed.ts'
import { startProgram } from '../programs/start-program.ts'
import type { Change } from './change.ts'
import { landChanges, type Landed, type LandingRequest } from './land-changes.ts'
import { readMoment, type Moment } from './landing/moment.ts'
import { identifyFolders, identityOf } from './swapped-folders.ts'
import { digestChanges, listEffects, readChanged, type InLayer } from './layer-contents.ts'
import { makeLayerFolder, removeSmallFolder } from './layer-folder.ts'
import { noLayer } from './layer-failure.ts'
import { openLayerNamespace, type LayerWay, type NamespacePrograms, type Program } from './layer-namespace.ts'
import { copyRoot, createCopyBounds } from './copy-root.ts'
import { noteCopy, readCopy } from './read-copy.ts'
import { readOverlay } from './read-overlay.ts'

/** Holds what a command writes below its write roots: the files there stay as they were. Disposing of it removes what it holds. */
export interface Layer extends AsyncDisposable {
  /** How a program is started, by this process's own user, so that it runs as the one of the sandbox and writes into the layer. */
  readonly wrap: (program: Program) => Program
  /** By which path this process sees what the command sees at a path. */
  readonly seen: (path: string) => string
  /** Where the copy of each root lies; empty for an overlay. */
  readonly copies: ReadonlyMap<string, string>
  /** Where what was written below each root lies. */
  readonly uppers: ReadonlyMap<string, string>
  /** The moment of now, by the clock that tells what is changed after it. */
  moment(): Moment
  /** Begins: what another program changes from now on, and the command too, is a conflict. */
  begin(): void
  /**
   * What the command changed, without what is skipped by its absolute path. Call it, and what takes its changes, when no process of the command is left,
   * or runs.
   */
  read(skips?: (path: string) => boolean): Promise<readonly Change[]>
  /** What changes come to, with all that is below a removed folder. Each folder before what is in it. */
  effects(changes: readonly Change[]): Promise<readonly FileEffect[]>
  /** Of changes with their kinds, modes, links and contents: `sha256:` and 64 hex digits. */
  digest(changes: readonly Change[]): Promise<string>
  /** What a changed file holds; undefined if it is not a file, or has more bytes. */
  contents(change: Change, maxBytes: number): Uint8Array | undefined
  /** Puts changes in force, or fails with a `ToolFailure` and changes nothing: also if something that they change was changed since the layer opened. */
  land(changes: readonly Change[], request: LandingRequest): Promise<Landed>
}

/** What a layer lies over, and for whom. */
export interface LayerRequest {
  /** Write roots, links resolved; none lies in another one. */
  readonly roots: readonly string[]
  readonly user: { readonly uid: number; readonly gid: number; readonly other: boolean }
  readonly launcher: Launcher | undefined
  /**
   * `overlay` costs little, but no folder that was there can be renamed in it: the system call fails with `EXDEV`. `copy` is for small roots, and
   * works without overlays.
   */
  readonly way: LayerWay
  /** End the making of a copy. */
  readonly signals?: readonly AbortSignal[]
}

/** Opens a layer over these roots. Fails with `SANDBOX.UNAVAILABLE` if this machine has no means for it, or something lies in its way. */
export async function openLayer({ roots, user, launcher, way, signals = [] }: LayerRequest): Promise<Layer> {
  const hindrance = findHindrance(roots)
  if (hindrance !== undefined) throw noLayer(hindrance)
  const programs = requirePrograms()
  const folder = makeLayerFolder()
  try {
    for (const [at, root] of roots.entries()) prepare(folder, at, root)
    let since = readMoment(folder)
    let identities = identify(roots)
    let folders: ReadonlyMap<string, string> = new Map()
    const readers =
      way === 'copy' ? await copyRoots(roots, { folder, user, signals }) : overlayReaders(roots, folder)
    const namespace = await openLayerNamespace({
      way,
      folder,
      count: roots.length,
      programs,
      user,
      launcher,
    })
    const uppers = new Map(roots.map((root, at) => [root, upperIn(folder, at)]))
    const inLayer: InLayer = ({ root, path }) => join(uppers.get(root) ?? '', path)
    const owner = user.other ? { uid: user.uid, gid: user.gid } : undefined
    const ending = createEnding()
    return {
      wrap: namespace.wrap,
      seen: namespace.seen,
      copies: way === 'copy' ? uppers : new Map(),
      uppers,
      moment: () => readMoment(folder),
      begin() {
        // A copy is of the time when it was made.
        if (way === 'copy') return
        since = readMoment(folder)
        identities = identify(roots)
      },
      async read(skips) {
        const found = await Promise.all(readers.map((read) => read(namespace.seen, skips)))
        const changes = found.flat()
        folders = identifyFolders(changes)
        return changes
      },
      effects: listEffects,
      digest: (changes) => digestChanges(changes, inLayer),
      contents: (change, maxBytes) => readChanged(change, inLayer, maxBytes),
      land: (changes, request) =>
        landChanges(
          changes,
          {
            inLayer,
            since: request.since ?? since,
            identities,
            folders,
            owner,
            afterwards: (work) => ending.add(work),
          },
          request,
        ),
      async [Symbol.asyncDispose]() {
        await Promise.all([namespace.close(), ending.end()])
        await removeFolder(folder, launcher)
      },
    }
  } catch (error) {
    await removeFolder(folder, launcher)
    throw error
  }
}

/** Reads what was changed below one root, whose path `seen` leads to what the command saw. */
type Reader = (seen: Layer['seen'], skips?: (path: string) => boolean) => Promise<Change[]>

function overlayReaders(roots: readonly string[], folder: string): Reader[] {
  return roots.map(
    (root, at) => (seen, skips) =>
      readOverlay({
        root,
        upper: upperIn(folder, at),
        merged: seen(root),
        skips: skips && ((path) => skips(join(root, path))),
      }),
  )
}

async function copyRoots(
  roots: readonly string[],
  { folder, user, signals }: Required<Pick<LayerRequest, 'user' | 'signals'>> & { folder: string },
): Promise<Reader[]> {
  const bounds = createCopyBounds(user, signals)
  return await Promise.all(
    roots.map(async (root, at) => {
      const copy = upperIn(folder, at)
      await copyRoot(root, copy, bounds)
      const known = await noteCopy(copy)
      return () => readCopy({ root, copy, known })
    }),
  )
}

/** Work that goes on by itself until the layer is disposed of. */
function createEnding() {
  const going = new Set<Promise<void>>()
  return {
    add(work: () => Promise<void>) {
      const ended = work()
        // The next start of Handrail removes what cannot be removed now.
        .catch(() => {})
        .finally(() => going.delete(ended))
      going.add(ended)
    },
    end: () => Promise.all(going),
  }
}

/** What is written to the layer of one root. */
function upperIn(folder: string, at: number): string {
  return join(folder, `upper${at}`)
}

function identify(roots: readonly string[]): ReadonlyMap<string, string> {
  return new Map(roots.map((root) => [root, identityOf(root)]))
}

/** What the layer of one root is made of. In the layer the root has the owner and the permissions that it has. */
function prepare(folder: string, at: number, root: string): void {
  symlinkSync(root, join(folder, `root${at}`))
  const [upper, work] = [upperIn(folder, at), join(folder, `work${at}`)]
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
  return { unshare: requireProgram('unshare'), nsenter: requireProgram('nsenter'), sh: requireProgram('sh') }
}

/** A large folder is removed by programs of the system: they know names that are not text, and paths of any length, and this process goes on meanwhile. */
async function removeFolder(folder: string, launcher: Launcher | undefined): Promise<void> {
  if (await removeSmallFolder(folder)) return
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
