import { join } from 'node:path'
import { isProtected } from '../../kit/match/protected-path.ts'
import { isNote } from '../leftovers/notes.ts'
import { protectedPath } from './file-failure.ts'
import type { Place } from './locate.ts'
import type { Reach } from './reach.ts'

/** Fails if the place is one that no caller may write through a tool, such as a git hook, whether or not it exists. */
export function refuseProtected(reach: Reach, { held, missing }: Place, path: string): void {
  refuseProtectedAt(reach, join(held.real, ...missing), path)
}

/** The same for a path with links resolved. `path` is for the message. */
export function refuseProtectedAt(reach: Reach, real: string, path: string): void {
  const below = reach.write.below(real)
  if ((below !== undefined && isProtected(below)) || isNote(real)) throw protectedPath(path)
}
