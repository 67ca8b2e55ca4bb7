import type { TreeBounds, TreeTarget } from '../../../contract/services/sandbox.ts'
import { isInside } from '../../../kit/match/is-inside.ts'
import { noteUnfinished, unfinishedName } from '../../leftovers/unfinished-files.ts'
import { systemErrorName, toFileFailure } from '../file-failure.ts'
import { ownerIn } from '../owner-in.ts'
import { requireWriting, stopIfAborted, type Reach } from '../reach.ts'
import { syncDirectory } from '../sync-directory.ts'
import { buildCopy, type CopyWay } from './build-copy.ts'
import { clearAway } from './clear-away.ts'
import { entryIn, locateEntry, lookAt, makeEntry, resolveEntry, type Entry } from './entry.ts'
import { knownTree, requireMovable, requirePlaceable } from './known-tree.ts'
import { checkTarget, putEntry } from './put-entry.ts'
import { removeTree } from './remove-tree.ts'
import { identityOf, surveyTree, type TreeNode } from './survey.ts'
import { appearing, keepEntry, statesOfTree, vanishing } from './tree-effects.ts'
import { changedMeanwhile, insideItself, notEmpty } from './tree-failure.ts'

/** From where to where. */
export interface Places {
  readonly from: string
  readonly to: string
}

/** Copies a tree: it is built beside its target and then given its name, so that there is all of it or nothing. */
export async function copyTree(reach: Reach, places: Places, how: TreeTarget): Promise<void> {
  requireWriting(reach, 'copy files')
  try {
    using from = locateEntry(reach, places.from, 'read')
    const top = await knownTree(reach, from, { path: places.from, ...how })
    using target = await openTarget(reach, { from, top, places }, how)
    const owner = ownerIn(target.directory.stat)
    const way: CopyWay = { reach, path: places.from, as: 'new', owner }
    await placeCopy(way, from, { top, target, to: places.to, how })
  } catch (error) {
    throw toFileFailure(error, places.from)
  }
}

/**
 * Moves a tree. Within a file system it gets its new name in one step; a file has both names for a moment, so that it cannot take
 * the place of another. Into another file system it is copied as a whole and synced, then the old one is removed.
 */
export async function moveTree(reach: Reach, places: Places, how: TreeTarget): Promise<void> {
  requireWriting(reach, 'move files')
  try {
    using from = locateEntry(reach, places.from, 'write')
    const top = await knownTree(reach, from, { path: places.from, ...how })
    requireMovable(reach, from.real, { top, path: places.from })
    using target = await openTarget(reach, { from, top, places }, how)
    await noteMove(reach, from, { top, target, places })
    stopIfAborted(reach)
    if (renamed(from, target, { top, places, how })) {
      await syncDirectory(target.directory)
      await syncDirectory(from.directory)
      return
    }
    const way: CopyWay = { reach, path: places.from, as: 'moved', owner: undefined }
    await placeCopy(way, from, { top, target, to: places.to, how })
    const did = `"${places.to}" is a whole copy of "${places.from}"; of the old one was removed`
    await removeTree(reach, from, { top, path: places.from, did })
  } catch (error) {
    throw toFileFailure(error, places.from)
  }
}

/** Removes a tree. */
export async function deleteTree(
  reach: Reach,
  path: string,
  how: TreeBounds & { expect: string; recursive: boolean },
): Promise<void> {
  requireWriting(reach, 'delete files')
  try {
    using entry = locateEntry(reach, path, 'write')
    const top = await knownTree(reach, entry, { path, ...how })
    if (top.children.length > 0 && !how.recursive) throw notEmpty(path)
    requireMovable(reach, entry.real, { top, path })
    await noteRemoval(reach, entry, { top, path })
    await removeTree(reach, entry, { top, path })
    await syncDirectory(entry.directory)
  } catch (error) {
    throw toFileFailure(error, path)
  }
}

/** Holds the target's directory, after everything that could refuse it was looked at. */
async function openTarget(
  reach: Reach,
  { from, top, places }: { from: Entry; top: TreeNode; places: Places },
  how: TreeTarget,
): Promise<Entry> {
  const real = resolveEntry(reach, places.to, 'write')
  if (isInside(real, from.real)) throw insideItself(places.from, places.to)
  requirePlaceable(reach, real, { top, path: places.to })
  const target = await makeEntry(reach, places.to, how.createDirs)
  try {
    // Looked at again: its directory may be another one than a moment ago.
    requirePlaceable(reach, target.real, { top, path: places.to })
    const kind = { isDirectory: top.stat.isDirectory() }
    checkTarget(target, kind, { replace: how.replace, path: places.to })
    const there = lookAt(target)
    if (there !== undefined && there.dev === top.stat.dev && there.ino === top.stat.ino)
      throw insideItself(places.from, places.to)
    return target
  } catch (error) {
    target[Symbol.dispose]()
    throw error
  }
}

/** What is moved stays where it goes, so only what makes room for it is kept. */
async function noteMove(
  reach: Reach,
  from: Entry,
  { top, target, places }: { top: TreeNode; target: Entry; places: Places },
): Promise<void> {
  if (reach.history === undefined) return
  const replaced = await keepEntry(reach, target, places.to)
  const states = await statesOfTree(reach, from, { top, path: places.from })
  await reach.history.record([...vanishing(from.real, states), ...appearing(target.real, states, replaced)])
}

async function noteRemoval(
  reach: Reach,
  entry: Entry,
  { top, path }: { top: TreeNode; path: string },
): Promise<void> {
  const { history } = reach
  if (history === undefined) return
  const states = await statesOfTree(reach, entry, { top, path, keep: (file) => history.keep(file) })
  await history.record(vanishing(entry.real, states))
}

/** Whether it has its new name; not where that lies in another file system. */
function renamed(
  from: Entry,
  target: Entry,
  { top, places, how }: { top: TreeNode; places: Places; how: TreeTarget },
): boolean {
  const now = lookAt(from)
  if (now === undefined || identityOf(now) !== identityOf(top.stat)) throw changedMeanwhile(places.from)
  try {
    putEntry(from, target, { kind: top, replace: how.replace, path: places.to })
    return true
  } catch (error) {
    if (systemErrorName(error) === 'EXDEV') return false
    throw error
  }
}

async function placeCopy(
  way: CopyWay,
  from: Entry,
  { top, target, to, how }: { top: TreeNode; target: Entry; to: string; how: TreeTarget },
): Promise<void> {
  const staged = entryIn(target.directory, unfinishedName())
  const forget = noteUnfinished(staged.real)
  try {
    await buildCopy(way, from, { node: top, into: target.directory, name: staged.name })
    stopIfAborted(way.reach)
    if (way.as === 'new') await noteCopy(way.reach, staged, { target, to, bounds: how })
    putEntry(staged, target, { kind: top, replace: how.replace, path: to })
    await syncDirectory(target.directory)
  } finally {
    clearAway(staged)
    forget()
  }
}

/** A copy has modes of its own, so it is looked at where it was built. */
async function noteCopy(
  reach: Reach,
  staged: Pick<Entry, 'directory' | 'name' | 'at'>,
  { target, to, bounds }: { target: Entry; to: string; bounds: TreeBounds },
): Promise<void> {
  if (reach.history === undefined) return
  const replaced = await keepEntry(reach, target, to)
  const top = await surveyTree(reach, staged, { path: to, bounds })
  if (top === undefined) throw changedMeanwhile(to)
  const states = await statesOfTree(reach, staged, { top, path: to })
  await reach.history.record(appearing(target.real, states, replaced))
}
