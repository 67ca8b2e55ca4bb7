import type { Stats } from 'node:fs'
import { ToolFailure } from '../../contract/base/errors.ts'
import { matchPath } from '../../kit/match/match-pattern.ts'
import { fileKey } from './file-key.ts'
import type { Reach } from './reach.ts'

/** A file: where it is, links resolved, and what the system says of it. */
interface Named {
  readonly real: string
  readonly stat: Stats
}

/**
 * Fails if a file is, by a hard link, also one that the call must not see unasked. Costs nothing for a file with one name. What was
 * decided about this very name holds for another one that the same glob names.
 */
export async function refuseAlias(reach: Reach, file: Named, path: string): Promise<void> {
  if (!(await isAlias(reach, file))) return
  throw new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'sensitive_path',
    message: `"${path}" is another name (a hard link) of a file that is not to be seen unasked. Ask the person for that file.`,
    data: { path },
  })
}

/** Whether it is, under another name, a file that the call must not see. */
export async function isAlias(reach: Reach, { real, stat }: Named): Promise<boolean> {
  if (stat.nlink < 2 || !stat.isFile()) return false
  const others = (await reach.hiddenFiles()).get(fileKey(stat)) ?? []
  if (others.length === 0) return false
  const globs = reach.hidden()
  return others.some((other) => !globs.some((glob) => covers(glob, other) && covers(glob, real)))
}

function covers(glob: string, path: string): boolean {
  const [pattern, lower] = [glob.toLowerCase(), path.toLowerCase()]
  return matchPath(pattern, lower) || matchPath(`${pattern}/**`, lower)
}
