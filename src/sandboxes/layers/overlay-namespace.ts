import { PassThrough } from 'node:stream'
import type { Launcher } from '../programs/launcher/create-launcher.ts'
import { startProgram } from '../programs/start-program.ts'
import { whenClosed } from '../programs/launcher/when-closed.ts'
import { noLayer } from './layer-failure.ts'

/** A namespace of mounts in which overlays lie over folders. They end with it. */
export interface OverlayNamespace {
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
export interface OverlayRequest {
  /** A folder with a `root`, an `upper` and a `work` of each number below `count`. No path of it is in an argument: any name will do. */
  readonly folder: string
  readonly count: number
  readonly programs: NamespacePrograms
  /** Whom programs run as inside; `other` if this process is root and has to change to it. */
  readonly user: { readonly uid: number; readonly gid: number; readonly other: boolean }
  readonly launcher: Launcher | undefined
}

/** Where the programs of the system lie. What a user could put elsewhere must not run as root. */
export const systemPath = '/usr/bin:/bin:/usr/sbin:/sbin'

/** A renamed folder and a changed mode are whole in the layer, as they always are in one of another user. */
const rootOptions = ',redirect_dir=nofollow,metacopy=off,index=off'

/** Mounts each overlay, says so, and waits for its end. The kernel ends the mounts with the last process inside. */
const script = `n=0
while [ "$n" -lt "$1" ]; do
  mount -t overlay overlay -o "lowerdir=root$n,upperdir=upper$n,workdir=work$n$2" "root$n" || exit 1
  n=$((n + 1))
done
echo mounted
read -r end`

/**
 * Opens a namespace with an overlay over each root: as root if this process is root, so that files of all users can be copied into the layer, else in a
 * namespace of users, which has this user and no other. Fails with `SANDBOX.UNAVAILABLE` if the kernel refuses that.
 */
export async function openOverlayNamespace(request: OverlayRequest): Promise<OverlayNamespace> {
  const { folder, count, programs, user, launcher } = request
  const { unshare, nsenter, sh } = programs
  const end = new PassThrough()
  const keeper = await startProgram({
    executable: unshare,
    argv: [
      'unshare',
      ...(user.other ? [] : ['--user', '--map-root-user']),
      '--mount',
      sh,
      '-c',
      script,
      'sh',
      String(count),
      user.other ? rootOptions : ',userxattr',
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
  if (!(await mounted)) {
    end.end()
    throw noLayer(said.stderr.trim() || 'its namespaces could not be made')
  }
  return {
    wrap: ({ executable, argv }) => ({
      executable: nsenter,
      argv: [
        'nsenter',
        '--mount',
        '--target',
        String(keeper.pid),
        ...(user.other
          ? ['--setuid', String(user.uid), '--setgid', String(user.gid)]
          : ['--user', '--preserve-credentials']),
        '--',
        executable,
        ...argv.slice(1),
      ],
    }),
    seen: (inside) => `/proc/${keeper.pid}/root${inside}`,
    async close() {
      end.end()
      await whenClosed(keeper)
    },
  }
}
