import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import { isInside } from '../../kit/match/is-inside.ts'
import { quoteArgument } from '../../kit/text/quote-argv.ts'
import type { SandboxUser } from './sandbox-user.ts'
import { mayUse } from './system-places.ts'

/** What to do where bubblewrap is missing. */
export const installBubblewrap =
  'Install it: "apt-get install bubblewrap" on Debian and Ubuntu, "dnf install bubblewrap" on Fedora, "pacman -S bubblewrap" on Arch, "apk add bubblewrap" on Alpine.'

/** What an operator can choose instead. Never chosen for them. */
export const chooseHost =
  'To run commands without isolation, choose it: "sandbox": "host" in the configuration.'

/** Without a sandbox, nothing was run. */
export function noSandbox(reason: 'no_backend' | 'missing_program', message: string): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.UNAVAILABLE',
    reason,
    message: `The command was not run: ${message}`,
  })
}

/** For whom a sandbox was made, and what bwrap was given. */
interface Setup {
  readonly user: SandboxUser
  /** Absolute path of the project. */
  readonly project: string
  /** Where what bwrap has at a descriptor is; undefined for anything else. */
  placeAt(descriptor: number): string | undefined
}

/** What bwrap said when it could not make the sandbox, and what to do about it. */
export function toSetupFailure(said: string, setup: Setup): ToolFailure {
  const { name } = setup.user
  const line = (said.trim().split('\n').at(-1) ?? '').replaceAll(
    /\/proc\/self\/fd\/(\d+)/g,
    (path, descriptor: string) => setup.placeAt(Number(descriptor)) ?? path,
  )
  const [, closed] =
    /Can't (?:find source path|chdir to|bind mount|mkdir|create file at|open) ?(.*?): Permission denied/.exec(
      line,
    ) ?? []
  if (closed !== undefined)
    return noSandbox('no_backend', `${describeClosed(closed, setup)} (${shorten(line)})`)
  if (/namespace|uid map|clone|No permissions|Operation not permitted/i.test(line))
    return noSandbox(
      'no_backend',
      `this machine lets ${name} make no user namespace, which bubblewrap needs (${shorten(line)}). Allow it: "sysctl user.max_user_namespaces=10000", where there is "kernel.unprivileged_userns_clone" set it to 1, on Ubuntu allow it for bwrap with an AppArmor profile; in a container start that one with user namespaces. ${chooseHost}`,
    )
  return noSandbox(
    'no_backend',
    `bubblewrap could not make the sandbox: ${line === '' ? 'it said nothing' : shorten(line)}. "handrail doctor" tells what holds here.`,
  )
}

function shorten(line: string): string {
  return line.slice(0, 500)
}

/** Which folder keeps the user of commands out, and the command that opens it. */
function describeClosed(path: string, { user, project }: Setup): string {
  const folder = findClosedFolder(path, user) ?? path
  const shown = quoteArgument(folder)
  const who = `commands run as ${user.name}, who may not enter "${folder}"`
  if (!user.other) return `${who}. Give its owner the rights back: chmod u+rwx ${shown}`
  const other = 'or name a user who may: "sandbox": { "user": "NAME" }.'
  return isInside(folder, project)
    ? `${who}. Give it to that user: chown -R ${user.name} ${shown}; ${other}`
    : `${who}, above the project "${project}". Let other users pass through it: chmod o+x ${shown}; or move the project; ${other}`
}

/** The outermost folder on the way to a path that the user may not enter. */
function findClosedFolder(path: string, user: SandboxUser): string | undefined {
  const above = dirname(path)
  const outer = above === path ? undefined : findClosedFolder(above, user)
  return outer ?? (isClosed(path, user) ? path : undefined)
}

function isClosed(path: string, user: SandboxUser): boolean {
  try {
    const stat = statSync(path)
    return stat.isDirectory() && !mayUse(stat, user, 1)
  } catch {
    // Not there, or below one that this process may not enter either.
    return false
  }
}
