import { accessSync, constants, readlinkSync, renameSync, symlinkSync, unlinkSync } from 'node:fs'
import type { TreeTarget } from '../../../contract/services/sandbox.ts'
import { pathConflict, stalePreview, systemErrorName } from '../file-failure.ts'
import { createOnly } from '../put-in-place.ts'
import { lookAt, type Entry } from './entry.ts'
import { digestOf, type TreeNode } from './survey.ts'

type Place = Pick<Entry, 'at' | 'name'>

/** Fails early where something else is at the target than `replace` says. */
export function checkTarget(
  target: Place,
  kind: { isDirectory: boolean },
  { replace, path }: { replace: TreeTarget['replace']; path: string },
): void {
  const now = lookAt(target)
  if (replace === 'absent') {
    if (now !== undefined) throw pathConflict(path)
    return
  }
  // A whole folder is never taken away to make room, and none is put in the place of a file.
  if (now?.isDirectory() === true || kind.isDirectory) throw pathConflict(path)
  if (now === undefined || digestAt(target, now) !== replace.digest) throw stalePreview(path)
  // Renaming over a file needs no right to write to it, yet a read-only file is meant to stay.
  if (now.isFile()) accessSync(target.at, constants.W_OK)
}

/**
 * Gives what is at one place its name at another one of the same file system, where that one is as `replace` says, without giving
 * way in between. Fails with `path_conflict` or `stale_preview`, or with a system error such as `EXDEV`; then nothing has changed.
 */
export function putEntry(
  from: Place,
  target: Place,
  about: { kind: TreeNode; replace: TreeTarget['replace']; path: string },
): void {
  const { stat } = about.kind
  checkTarget(target, { isDirectory: stat.isDirectory() }, about)
  if (about.replace !== 'absent') renameSync(from.at, target.at)
  else if (stat.isFile()) createOnly(from.at, target.at, about.path)
  else if (stat.isSymbolicLink()) moveLink(from, target, about.path)
  else moveDirectory(from, target, about.path)
}

/** Some systems follow a link that is to get a second name, so it is made anew. */
function moveLink(from: Place, target: Place, path: string): void {
  try {
    symlinkSync(readlinkSync(from.at), target.at)
  } catch (error) {
    throw systemErrorName(error) === 'EEXIST' ? pathConflict(path) : error
  }
  unlinkSync(from.at)
}

/** Renaming a directory never replaces anything but an empty one. */
function moveDirectory(from: Place, target: Place, path: string): void {
  try {
    renameSync(from.at, target.at)
  } catch (error) {
    const taken = ['EEXIST', 'ENOTEMPTY', 'ENOTDIR'].includes(systemErrorName(error) ?? '')
    throw taken ? pathConflict(path) : error
  }
}

function digestAt(place: Place, stat: TreeNode['stat']): string {
  const link = stat.isSymbolicLink() ? readlinkSync(place.at) : undefined
  return digestOf({ name: place.name, path: '', stat, link, children: [] })
}
