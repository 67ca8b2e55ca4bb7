import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'

/** Git in a folder, as the user to whom the folder belongs. */
export function gitAsOwner(folder: string, ...words: string[]): string {
  const { uid, gid } = statSync(folder)
  const git = ['git', '-C', folder, ...words]
  const argv =
    uid === process.getuid?.()
      ? git
      : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...git]
  const [program = '', ...args] = argv
  const env = { PATH: process.env['PATH'] ?? '', HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' }
  return execFileSync(program, args, { cwd: '/', env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Makes a repository of a folder, with all that lies there in one commit. */
export function makeRepository(folder: string): void {
  gitAsOwner(folder, 'init', '-q', '-b', 'main')
  gitAsOwner(folder, 'config', 'user.name', 'Someone')
  gitAsOwner(folder, 'config', 'user.email', 'someone@example.com')
  gitAsOwner(folder, 'add', '-A')
  gitAsOwner(folder, 'commit', '-q', '--no-verify', '-m', 'work')
}
