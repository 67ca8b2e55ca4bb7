import { close, constants, openSync } from 'node:fs'
import { PassThrough } from 'node:stream'
import { promisify } from 'node:util'
import type { Launcher } from '../programs/launcher/create-launcher.ts'
import { startProgram } from '../programs/start-program.ts'
import { whenClosed } from '../programs/launcher/when-closed.ts'
import { messageOf } from '../../kit/text/message-of.ts'
import { noLayer } from './layer-failure.ts'
import { systemPath } from './system-program.ts'

/**
 * A namespace of mounts in which layers lie over folders. This process holds the namespace by descriptors, and no process waits in it. So the
 * namespace ends with this process, and no reused process id leads to another one.
 */
export interface LayerNamespace {
  /** How a program is started inside, by this process's own user. */
  readonly wrap: (program: Program) => Program
  /** By which path this process sees what lies at a path inside. */
  readonly seen: (path: string) => string
  close(): Promise<void>
}

/** What is started: an executable by its absolute path, and its arguments with its name. */
export interface Program {
  readonly executable: string
  readonly argv: readonly string[]
}

/** The programs of the system that make namespaces, enter them and mount. */
export interface NamespacePrograms {
  readonly unshare: string
  readonly nsenter: string
  readonly sh: string
}

/** What the namespaces stand on. */
export interface NamespaceRequest {
  /** Whether a layer is an overlay, or a copy that lies over the whole root. */
  readonly way: LayerWay
  /**
   * A folder with a `root`, an `upper` and, for overlays, a `work` of each number below `count`. No path of it is in an argument: any name will do.
   */
  readonly folder: string
  readonly count: number
  readonly programs: NamespacePrograms
  /** Whom programs run as inside; `other` if this process is root and has to change to it. */
  readonly user: { readonly uid: number; readonly gid: number; readonly other: boolean }
  readonly launcher: Launcher | undefined
}

/** Nothing of a layer has to be on the disk. A renamed folder and a changed mode are whole in the layer, as they always are in one of another user. */
const rootOptions = ',volatile,redirect_dir=nofollow,metacopy=off,index=off'

/** What holds what a command writes: an overlay of the kernel, or a copy of the whole root. */
export type LayerWay = 'overlay' | 'copy'

/** Mounts each layer, says so, and waits for the end of its input. The kernel ends the mounts when neither a process nor a descriptor holds the namespace. */
const script = `n=0
while [ "$n" -lt "$1" ]; do
  if [ -z "$2" ]; then mount --bind "upper$n" "root$n"
  else mount -t overlay overlay -o "lowerdir=root$n,upperdir=upper$n,workdir=work$n$2" "root$n"
  fi || exit 1
  n=$((n + 1))
done
echo mounted
read -r end`

/**
 * Opens a namespace with a layer over each root: as root if this process is root, so that files of all users can be copied into the layer, else in a
 * namespace of users, which has this user and no other. Fails with `SANDBOX.UNAVAILABLE` if the kernel refuses that.
 */
export async function openLayerNamespace(request: NamespaceRequest): Promise<LayerNamespace> {
  const { way, folder, count, programs, user, launcher } = request
  const { unshare, nsenter, sh } = programs
  const end = new PassThrough()
  const keeper = await startProgram({
    executable: unshare,
    argv: [
      'unshare',
      ...(user.other ? [] : ['--user', '--map-root-user']),
      '--mount',
      // A file system that the machine unmounts is unmounted here too. The layers are not seen outside.
      '--propagation',
      'slave',
      sh,
      '-c',
      script,
      'sh',
      String(count),
      way === 'copy' ? '' : user.other ? rootOptions : ',volatile,userxattr',
    ],
    cwd: folder,
    env: { PATH: systemPath, LC_ALL: 'C' },
    together: true,
    launcher,
    stdin: end,
  })
  const said = { stdout: '', stderr: '' }
  const mounted = new Promise<boolean>((resolve) => {
    keeper.stdout.on('data', (chunk: Buffer) => {
      said.stdout += chunk.toString()
      if (said.stdout.includes('mounted\n')) resolve(true)
    })
    keeper.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()))
    void whenClosed(keeper).then(() => resolve(false))
  })
  try {
    if (!(await mounted)) throw noLayer(said.stderr.trim() || 'its namespaces could not be made')
    const held = holdNamespaces(keeper.pid, user.other)
    return {
      wrap: ({ executable, argv }) => ({
        executable: nsenter,
        argv: ['nsenter', ...held.entering, ...whoInside(user), '--', executable, ...argv.slice(1)],
      }),
      seen: (inside) => `${held.root}${inside}`,
      async close() {
        await Promise.all([held.close(), whenClosed(keeper)])
      },
    }
  } finally {
    end.end()
  }
}

function whoInside({ uid, gid, other }: NamespaceRequest['user']): string[] {
  return other ? ['--setuid', String(uid), '--setgid', String(gid)] : ['--preserve-credentials']
}

/** Opens a place without opening what is there. */
const O_PATH = 0o10000000

/** Holds the namespaces of a process by descriptors. They stay when the process has ended. */
function holdNamespaces(pid: number, asRoot: boolean) {
  const descriptors: number[] = []
  const hold = (name: string, flags: number) => {
    const descriptor = openSync(`/proc/${pid}/${name}`, flags)
    descriptors.push(descriptor)
    return descriptor
  }
  const closeAll = async () => {
    await Promise.all(descriptors.splice(0).map((descriptor) => promisify(close)(descriptor)))
  }
  try {
    const entering = (asRoot ? ['mnt'] : ['user', 'mnt']).map(
      (name) =>
        `--${name === 'mnt' ? 'mount' : name}=/proc/${process.pid}/fd/${hold(`ns/${name}`, constants.O_RDONLY)}`,
    )
    return { entering, root: `/proc/self/fd/${hold('root', O_PATH)}`, close: closeAll }
  } catch (error) {
    void closeAll()
    throw noLayer(messageOf(error))
  }
}
