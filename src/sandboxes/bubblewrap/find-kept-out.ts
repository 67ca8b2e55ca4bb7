import { statSync } from 'node:fs'
import type { Reach } from '../files/reach.ts'
import { runTree } from '../programs/run-tree.ts'
import type { Isolation } from './isolation.ts'
import { mayUse } from './system-places.ts'

const test = '/usr/bin/test'

/** The name of the user that programs run as, if that is another one than this process's, and may not write in the folder; else undefined. */
export async function findKeptOut(
  folder: string,
  reach: Reach,
  isolation: Isolation,
): Promise<string | undefined> {
  const user = isolation.find()?.user
  if (user?.other !== true || mayUse(statSync(folder), user, 3)) return undefined
  // The bits are not all: a list of further permissions may let the user in, which the system itself knows.
  const { exitCode } = await runTree({
    executable: test,
    argv: ['test', '-w', folder],
    cwd: '/',
    env: {},
    identity: { uid: user.uid, gid: user.gid },
    timeoutMs: 10_000,
    maxBytes: 1_024,
    graceMs: reach.limits.graceMs,
    signals: reach.signals(),
    launcher: reach.launcher,
  })
  return exitCode === 1 ? user.name : undefined
}
