import { chownSync, existsSync, realpathSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { CommandNetwork, CommandOutcome } from '../../contract/services/sandbox.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import { findProgram } from '../programs/find-program.ts'
import type { Reach } from '../files/reach.ts'
import { makeTemporaryFolder } from '../leftovers/temporary-folder.ts'
import type { Means } from './isolation.ts'
import {
  bridgeArguments,
  nameServer,
  proxyEnvironment,
  socketInside,
} from '../network/proxy/network-bridge.ts'
import { noSandbox } from './sandbox-fault.ts'
import type { SandboxUser } from './sandbox-user.ts'
import { canEnter, systemPlaces } from './system-places.ts'

/** The way of one command to the hosts of its call. Dispose of it with the command: that ends every connection. */
export interface Egress extends Disposable {
  /** Arguments that lay the system, with what the network needs of it. */
  readonly system: readonly string[]
  /** Absolute paths of what the bridge needs. */
  readonly programs: readonly string[]
  readonly bridge: readonly string[]
  readonly sockets: { readonly [path: string]: string }
  /** Contents of files that the sandbox has of its own. */
  readonly files: { readonly [path: string]: string }
  readonly env: Readonly<Record<string, string>>
  /** What the command asked for. Fails if it could ask for nothing, because the bridge did not start. */
  report(outcome: CommandOutcome): CommandNetwork
}

/**
 * Opens the way from a sandbox, whose network is its own loopback, to the hosts that the profile covers: a bridge inside, a proxy here
 * that judges, and between them a socket that only the user of the sandbox can reach. Undefined if the profile covers none.
 */
export async function openEgress(
  reach: Reach,
  means: Means,
  onRefused?: (host: string) => void,
): Promise<Egress | undefined> {
  if (reach.profile.hosts.length === 0) return undefined
  const node = findNode(means)
  const folder = makeFolder(means.user)
  const socket = join(folder, 'proxy')
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    let isGreeted = false
    const proxy = await reach.openProxy({
      path: socket,
      onRefused,
      onGreeting() {
        isGreeted = true
        // The sandbox has it by now: no other process shall find it.
        remove()
      },
    })
    giveTo(socket, means.user)
    return {
      system: systemPlaces({ network: true }),
      programs: isInside(node, '/usr') ? [] : [node],
      bridge: bridgeArguments(node, proxy.doors),
      sockets: { [socketInside]: socket },
      files: { '/etc/resolv.conf': `nameserver ${nameServer}\n` },
      env: proxyEnvironment(),
      report(outcome) {
        if (!isGreeted && outcome.ended === 'exit') throw noBridge(outcome)
        return proxy.report()
      },
      [Symbol.dispose]() {
        proxy.close()
        remove()
      },
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** The shared memory of the machine is in no sandbox, whatever its roots are: no other command finds the socket there. */
function makeFolder(user: SandboxUser): string {
  const shared = '/dev/shm'
  const folder = makeTemporaryFolder(existsSync(shared) ? shared : undefined)
  giveTo(folder, user)
  return folder
}

function giveTo(path: string, { other, uid, gid }: SandboxUser): void {
  if (other) chownSync(path, uid, gid)
}

/** This process's own Node, else one that the user finds. */
function findNode({ user, path }: Means): string {
  const own = realpathSync(process.execPath)
  if (canEnter(dirname(own), user)) return own
  const found = findProgram('node', { cwd: '/', path })
  if (found?.executable === true) return found.path
  throw noSandbox(
    'missing_program',
    `it may reach hosts, through Node, and ${user.name} may not start the one at "${own}". Install Node where every user may start it, such as in /usr/local, or take the hosts out of the configuration.`,
  )
}

function noBridge({ exitCode, stderr }: CommandOutcome) {
  const said = (stderr.head + stderr.tail).trim().slice(-300)
  return noSandbox(
    'no_backend',
    `the way to its hosts could not be opened in the sandbox (exit code ${exitCode}${said === '' ? '' : `: ${said}`}). "handrail doctor" tells what holds here.`,
  )
}
