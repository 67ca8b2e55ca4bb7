import { dirname } from 'node:path'
import type { ProgramOwn } from '../../contract/services/sandbox.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import type { PathHandle } from '../files/path-handle.ts'
import { findGuardedPlaces, type GuardedPlaces, type Present } from '../visible/guarded-places.ts'
import type { HiddenPlaces } from '../visible/hidden-places.ts'
import type { ProfilePlaces } from '../visible/profile-places.ts'
import type { HeldPlaces } from './hold-places.ts'
import type { SandboxUser } from './sandbox-user.ts'

/** What a sandbox for one command consists of. */
export interface SandboxPlan {
  readonly user: SandboxUser
  readonly places: ProfilePlaces
  /** Arguments that lay the system. */
  readonly system: readonly string[]
  /** Directories, or single programs, outside of the system's own. */
  readonly folders: readonly string[]
  /** Places of this command alone, in which nothing is hidden or guarded. */
  readonly own: {
    readonly write: readonly string[]
    readonly read: readonly string[]
    readonly over: NonNullable<ProgramOwn['over']>
    /** By which path this process finds them where bwrap starts; default their own. */
    readonly seen?: ((path: string) => string) | undefined
  }
  readonly hidden: HiddenPlaces
  /** What other commands could swap meanwhile. */
  readonly held: HeldPlaces
  /** Absolute path of the directory that the program starts in. */
  readonly cwd: string
  /** Contents of files that the sandbox has of its own. */
  readonly files: { readonly [path: string]: string | Buffer }
  /** Bytes of `/tmp`, and at most of `/dev/shm`. */
  readonly tmpBytes: number
  /** Sockets of the machine, each by its place in the sandbox. */
  readonly sockets: { readonly [path: string]: string }
  /** Whether something inside listens at ports that need a right: names, and what they lead to. */
  readonly servesNames: boolean
}

/** What bwrap finds at a descriptor: a content, or a place that is held. */
export type Inherited = string | Buffer | (Pick<PathHandle, 'self'> & Partial<Pick<PathHandle, 'real'>>)

/** Arguments of bwrap, what it finds at its descriptors, and what must not be there when it has ended. */
export interface SandboxArguments {
  readonly arguments: readonly string[]
  /** For descriptors from `first` on, in order. */
  readonly contents: readonly Inherited[]
  readonly guarded: GuardedPlaces
}

/** Returns the descriptor at which bwrap finds something. */
type Next = (inherited: Inherited) => string

const maxSharedBytes = 64 * 1024 * 1024
/** Each is a mount with a file of its own; what is more is laid over with a device that no program may open. */
const maxEmptyFiles = 200

/**
 * The sandbox in the words of bwrap. Later arguments lie over earlier ones, so that the order counts: the system, the roots, what is
 * protected and hidden in them; at last the root directory is closed for writing. `running` is what was there before each command that runs.
 */
export function bwrapArguments(
  plan: SandboxPlan,
  descriptors: { seccomp: number; status: number; first: number },
  running: readonly Present[],
): SandboxArguments {
  const contents: Inherited[] = []
  const next: Next = (inherited) => String(descriptors.first + contents.push(inherited) - 1)
  const lay = (how: 'bind' | 'ro-bind', path: string): string[] => {
    return [`--${how}-fd`, next(plan.held.hold(path)), path]
  }
  const { places, tmpBytes } = plan
  const whole = [...places.readOnly, ...places.writable].includes('/')
  const guarded = findGuardedPlaces(places.writable, running)
  const hidden = inView(plan)
  const above = [...hidden.files, ...hidden.folders].flatMap((path) => foldersAbove(path, places.writable))
  const pinned = [...new Set([...guarded.pinned, ...above])].toSorted((a, b) => a.length - b.length)
  return {
    contents,
    guarded,
    arguments: [
      ...isolation,
      // Whichever it is outside: a layer has users of its own.
      '--uid',
      String(plan.user.uid),
      '--gid',
      String(plan.user.gid),
      // A right over its own loopback alone, as it has no other network.
      ...(plan.servesNames ? ['--cap-add', 'CAP_NET_BIND_SERVICE'] : []),
      '--seccomp',
      String(descriptors.seccomp),
      '--json-status-fd',
      String(descriptors.status),
      ...(whole ? roots(places, { which: (place) => place === '/', lay }) : laySystem(plan, next)),
      '--proc',
      '/proc',
      '--ro-bind',
      '/proc/sys',
      '/proc/sys',
      ...(whole ? ['--dev', '/dev', '--remount-ro', '/dev'] : ownDevices),
      ...sizedFolder('/dev/shm', Math.min(tmpBytes, maxSharedBytes)),
      ...Object.entries(plan.sockets).flatMap(([path, socket]) => ['--ro-bind', socket, path]),
      ...sizedFolder('/tmp', tmpBytes),
      ...(whole ? [] : plan.folders.flatMap((folder) => ['--ro-bind-try', folder, folder])),
      ...roots(places, { which: (place) => place !== '/', lay }),
      // The pinned folders first: what is laid in them would be hidden by them otherwise.
      ...pinned.flatMap((folder) => lay('bind', folder)),
      ...guarded.readOnly.flatMap((path) => lay('ro-bind', path)),
      ...hide(hidden, next),
      ...layOwn(plan.own, next),
      ...hidden.folders.flatMap((path) => ['--remount-ro', path]),
      ...(places.writable.includes('/') ? [] : ['--remount-ro', '/']),
      '--chdir',
      plan.cwd,
    ],
  }
}

const isolation = [
  '--unshare-user',
  '--unshare-ipc',
  '--unshare-pid',
  '--unshare-net',
  '--unshare-uts',
  '--unshare-cgroup-try',
  '--hostname',
  'sandbox',
  '--cap-drop',
  'ALL',
  '--new-session',
  '--die-with-parent',
  '--as-pid-1',
]

function laySystem({ system, files }: SandboxPlan, next: Next): string[] {
  return [
    ...system,
    ...Object.entries(files).flatMap(([path, content]) => ['--perms', '0644', '--file', next(content), path]),
  ]
}

/**
 * Devices that hold nothing. They lie in the root directory, which is closed at last: a folder of their own, as bwrap makes it, would be
 * one more place to write, and costs more than all else of a sandbox.
 */
const ownDevices: readonly string[] = [
  ...['null', 'zero', 'full', 'urandom'].flatMap((name) => ['--dev-bind', `/dev/${name}`, `/dev/${name}`]),
  '--symlink',
  'urandom',
  '/dev/random',
  '--symlink',
  '/proc/self/fd',
  '/dev/fd',
  ...['stdin', 'stdout', 'stderr'].flatMap((name, index) => [
    '--symlink',
    `/proc/self/fd/${index}`,
    `/dev/${name}`,
  ]),
]

function sizedFolder(path: string, bytes: number): string[] {
  return ['--perms', '1777', '--size', String(bytes), '--tmpfs', path]
}

/** By descriptor: they may lie where the user of the sandbox does not come by a path. Over what is hidden, as a home with such places is. */
function layOwn({ write, read, over, seen = (path) => path }: SandboxPlan['own'], next: Next): string[] {
  return [
    ...write.flatMap((path) => ['--bind-fd', next({ self: seen(path) }), path]),
    ...read.flatMap((path) => ['--ro-bind-fd', next({ self: seen(path) }), path]),
    ...over.flatMap(({ folder, at }) => ['--bind-fd', next({ self: seen(folder) }), at]),
  ]
}

/** Outer roots before inner ones. A place that may be written is the very folder that is held: what stands at its path when bwrap starts may be another one. */
function roots(
  { readOnly, writable }: ProfilePlaces,
  { which, lay }: { which: (place: string) => boolean; lay: (how: 'bind', path: string) => string[] },
): string[] {
  return [
    ...readOnly.map((place) => ({ place, laid: () => ['--ro-bind', place, place] })),
    ...writable.map((place) => ({ place, laid: () => lay('bind', place) })),
  ]
    .filter(({ place }) => which(place))
    .toSorted((a, b) => a.place.length - b.place.length)
    .flatMap(({ laid }) => laid())
}

/** What of the hidden places a command would see otherwise. */
function inView({ hidden, places, folders }: SandboxPlan): HiddenPlaces {
  const visible = [...places.readOnly, ...places.writable, ...folders, '/usr']
  const isVisible = (path: string) => visible.some((place) => isInside(path, place))
  return { files: hidden.files.filter(isVisible), folders: hidden.folders.filter(isVisible) }
}

/** The folders of a writable place that lead to a path: renamed, they would show it under another name to the next command. */
function foldersAbove(path: string, writable: readonly string[]): string[] {
  const place = writable.find((each) => isInside(path, each))
  if (place === undefined) return []
  const above: string[] = []
  for (let folder = dirname(path); folder.length > place.length; folder = dirname(folder)) above.push(folder)
  return above
}

function hide(hidden: HiddenPlaces, next: Next): string[] {
  return [
    ...hidden.folders.flatMap((path) => ['--perms', '0555', '--size', '4096', '--tmpfs', path]),
    ...hidden.files.flatMap((path, index) =>
      index < maxEmptyFiles ? ['--ro-bind-data', next(''), path] : ['--ro-bind', '/dev/null', path],
    ),
  ]
}
