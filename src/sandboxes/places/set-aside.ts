import { randomBytes } from 'node:crypto'
import { chmodSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import { protectedInside } from '../../kit/match/protected-names.ts'
import { isProtected } from '../../kit/match/protected-path.ts'
import { systemErrorName } from '../files/file-failure.ts'
import type { PathHandle } from '../files/path-handle.ts'
import { openEntry, openPath } from '../files/open-path.ts'
import { clearAway } from '../files/trees/clear-away.ts'
import { entryIn } from '../files/trees/entry.ts'
import { targetOf, type GuardedPlaces, type Names } from '../visible/guarded-places.ts'

/**
 * Renames what a command made where nothing may be, in the place of a link, and in a root under another spelling of a protected name: beside
 * its place, under a name that no program looks for, so that nothing is lost. What cannot be renamed is removed. Returns the places. Rights that a
 * command took away from a folder keep nothing in its place.
 */
export function setAside({ present }: Pick<GuardedPlaces, 'present'>): string[] {
  const aside: string[] = []
  const left: string[] = []
  const clear = (folder: PathHandle, names: readonly string[]) => {
    for (const name of names) (putAside(folder, name) ? aside : left).push(join(folder.real, name))
  }
  for (const [path, { names, inside }] of present) {
    using root = holdRoot(path)
    if (root === undefined) continue
    clear(
      root,
      namesIn(root).filter((name) => isProtected(name) && isMade(root, name, names)),
    )
    for (const [name, before] of inside) {
      using folder = holdInside(root, name)
      if (folder === undefined) continue
      giveBack(folder)
      clear(
        folder,
        namesIn(folder).filter(
          (each) => protectedInside[name]?.includes(each) && isMade(folder, each, before),
        ),
      )
    }
  }
  if (left.length > 0) throw new StillThere(left)
  return aside
}

/** Whether a name was not there before, or was a link that led elsewhere. What was no link could not be replaced. */
function isMade(folder: PathHandle, name: string, before: Names): boolean {
  const target = before.get(name)
  if (target === undefined || target === '') return target === undefined
  return withRights(folder, () => targetOf(join(folder.self, name))) !== target
}

/** Undefined if it is not there any more. */
function holdRoot(path: string): PathHandle | undefined {
  return unlessGone(() => {
    const held = openPath(path)
    if (held.real === path && held.stat.isDirectory()) return held
    held[Symbol.dispose]()
    return undefined
  })
}

function holdInside(root: PathHandle, name: string): PathHandle | undefined {
  return unlessGone(() => withRights(root, () => openEntry(root, name)))
}

function unlessGone<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemErrorName(error) ?? '')) return undefined
    throw error
  }
}

function namesIn(folder: PathHandle): string[] {
  return withRights(folder, () => readdirSync(folder.self))
}

/** Whether nothing of that name is there any more. */
function putAside(folder: PathHandle, name: string): boolean {
  const start = Buffer.byteLength(name) < 200 ? name : ''
  const aside = `${start}.blocked-${randomBytes(4).toString('hex')}`
  try {
    withRights(folder, () => renameSync(join(folder.self, name), join(folder.self, aside)))
    return true
  } catch (error) {
    if (systemErrorName(error) === 'ENOENT') return true
  }
  try {
    withRights(folder, () => clearAway(entryIn(folder, name)))
    return true
  } catch {
    return false
  }
}

/** Does it again with the owner's rights where they are missing, which are taken away again then. */
function withRights<T>(folder: PathHandle, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!['EACCES', 'EPERM'].includes(systemErrorName(error) ?? '')) throw error
  }
  const { mode } = folder.stat
  chmodSync(folder.self, (mode & 0o7777) | 0o700)
  try {
    return work()
  } finally {
    chmodSync(folder.self, mode & 0o7777)
  }
}

/** The folder of a version control keeps its owner's rights, so that neither its programs nor the next command stand before a closed door. */
function giveBack(folder: PathHandle): void {
  const { mode } = folder.stat
  if ((mode & 0o700) === 0o700) return
  try {
    chmodSync(folder.self, (mode & 0o7777) | 0o700)
  } catch {
    // Another user's, who had not given these rights to the command either.
  }
}

/** Places that could be neither renamed nor removed. */
export class StillThere extends ToolFailure {
  readonly paths: readonly string[]
  constructor(paths: readonly string[]) {
    const shown = paths.map((path) => `"${path}"`).join(', ')
    super({
      reason: 'protected_path',
      message: `The command made ${shown}, which other programs of the person run or obey, and it could be neither renamed nor removed. Tell the person to remove it before they use git or open the folder.`,
      data: { paths: [...paths] },
    })
    this.paths = paths
  }
}
