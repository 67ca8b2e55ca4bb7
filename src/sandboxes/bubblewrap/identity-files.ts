import { gitSettings } from './git-files.ts'
import type { SandboxUser } from './sandbox-user.ts'

/** Files of `/etc` that a sandbox has of its own: they name no user but its own, and no host but itself. */
export function identityFiles({ uid, gid, name }: SandboxUser, home: string): { [path: string]: string } {
  return {
    '/etc/passwd': `${name}:x:${uid}:${gid}::${home}:/bin/sh\n`,
    '/etc/gitconfig': gitSettings,
    '/etc/group': `${name}:x:${gid}:\n`,
    '/etc/hosts': '127.0.0.1 localhost sandbox\n::1 localhost\n',
    '/etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
  }
}
