import { ToolFailure } from '../../contract/errors.ts'

/** What to do where bubblewrap is missing. */
export const installBubblewrap =
  'Install it: "apt-get install bubblewrap" on Debian and Ubuntu, "dnf install bubblewrap" on Fedora, "pacman -S bubblewrap" on Arch, "apk add bubblewrap" on Alpine.'

/** What an operator can choose instead. Never chosen for them. */
export const chooseHost =
  'To run commands without isolation, choose it: "sandbox": "host" in the configuration.'

/** There is no sandbox, so that nothing was run. */
export function noSandbox(reason: 'no_backend' | 'missing_program', message: string): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.UNAVAILABLE',
    reason,
    message: `The command was not run: ${message}`,
  })
}

/** What bwrap said when it could not make the sandbox, and what to do about it. */
export function toSetupFailure(said: string, user: string): ToolFailure {
  const line = said.trim().split('\n').at(-1)?.slice(0, 500) ?? ''
  const closed =
    /Can't (?:find source path|chdir to|bind mount|mkdir|create file at|open) ?(.*?): Permission denied/.exec(
      line,
    )
  if (closed !== null)
    return noSandbox(
      'no_backend',
      `commands run as ${user}, who may not enter "${closed[1]}". Give the project to that user ("chown -R ${user} DIRECTORY"), or name a user who may: "sandbox": { "user": "NAME" }. (${line})`,
    )
  if (/namespace|uid map|clone|No permissions|Operation not permitted/i.test(line))
    return noSandbox(
      'no_backend',
      `this machine lets ${user} make no user namespace, which bubblewrap needs (${line}). Allow it: "sysctl user.max_user_namespaces=10000", where there is "kernel.unprivileged_userns_clone" set it to 1, on Ubuntu allow it for bwrap with an AppArmor profile; in a container start that one with user namespaces. ${chooseHost}`,
    )
  return noSandbox(
    'no_backend',
    `bubblewrap could not make the sandbox: ${line === '' ? 'it said nothing' : line}. "handrail doctor" tells what holds here.`,
  )
}
