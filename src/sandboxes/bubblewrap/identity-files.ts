import type { SandboxUser } from './sandbox-user.ts'

/**
 * A folder that has the files of a repository is none unless it is named as one (git 2.38 and later). Else `git status` in a folder that
 * a call filled would run what the settings in there say.
 */
const gitSettings = '[safe]\n\tbareRepository = explicit\n'

/** Files of `/etc` that a sandbox has of its own: they name nobody but its user, and no host but itself. */
export function identityFiles({ uid, gid, name }: SandboxUser, home: string): { [path: string]: string } {
  return {
    '/etc/passwd': `${name}:x:${uid}:${gid}::${home}:/bin/sh\n`,
    '/etc/gitconfig': gitSettings,
    '/etc/group': `${name}:x:${gid}:\n`,
    '/etc/hosts': '127.0.0.1 localhost sandbox\n::1 localhost\n',
    '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  }
}
