import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  ftruncateSync,
  futimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  type BigIntStats,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { openPath } from '../../files/open-path.ts'
import type { PathHandle } from '../../files/path-handle.ts'
import { clearAway, clearAwayGently } from '../../files/trees/clear-away.ts'
import { entryIn } from '../../files/trees/entry.ts'
import { copyContent, openRegular } from '../landing/content.ts'
import { kindOf, lookAt } from '../landing/expected.ts'
import { give } from '../landing/give.ts'
import { holdFolders, holdRoot } from '../landing/folders.ts'
import { hasSameContent } from '../same-content.ts'

/** A larger file is not shown. */
const mostBytes = 64 * 1024 * 1024

/** Where a root is, and by which path this process sees what a program in the layer sees of it. */
export interface ShownRoot {
  readonly root: string
  readonly merged: string
}

/**
 * Shows a program in an overlay what another program made of a path. It is written through the overlay, so that the program and its watchers see it,
 * and the kernel forgets what it knew of the path. `isInLayer`: the layer has the path already; `isOther`: it may be another file than before. Returns
 * false if there is nothing to show. No process of the program may run meanwhile.
 */
export async function showPath(
  { root, merged }: ShownRoot,
  path: string,
  { isInLayer, isOther }: { isInLayer: boolean; isOther: boolean },
): Promise<boolean> {
  using below = holdRoot(root)
  using above = holdFolders(openPath(merged))
  const name = basename(path)
  const from = `${below.at(dirname(path)).self}/${name}`
  const folder = above.at(dirname(path))
  const to = `${folder.self}/${name}`
  const [stat, there] = [lookAt(from), lookAt(to)]
  const kind = kindOf(stat)
  if (stat === undefined) {
    if (there === undefined) tellGone(to)
    else await clearAwayGently(entryIn(folder, name))
    return there !== undefined
  }
  if (kind === 'special' || (kind === 'file' && stat.size > mostBytes)) return false
  if (kind === 'directory' && kindOf(there) === 'directory') {
    utimesSync(to, Number(stat.atimeNs) / 1e9, Number(stat.mtimeNs) / 1e9)
    return true
  }
  if (isInLayer && isAlike({ stat, at: from }, { stat: there, at: to })) return false
  if (there !== undefined && (isOther || kind !== 'file' || kindOf(there) !== 'file'))
    await clearAwayGently(entryIn(folder, name))
  if (kind === 'directory') mkdirSync(to, Number(stat.mode & 0o777n))
  else if (kind === 'link') symlinkSync(readlinkSync(from), to)
  else await writeThrough(from, folder, name)
  return true
}

/** Watchers are told of what is not there only when it goes. */
function tellGone(at: string): void {
  closeSync(openSync(at, 'wx', 0o600))
  unlinkSync(at)
}

function isAlike(
  one: { stat: BigIntStats; at: string },
  other: { stat: BigIntStats | undefined; at: string },
): boolean {
  if (kindOf(one.stat) !== kindOf(other.stat)) return false
  if (one.stat.isSymbolicLink()) return readlinkSync(one.at) === readlinkSync(other.at)
  return one.stat.size === other.stat?.size && hasSameContent(one.at, other.at)
}

async function writeThrough(from: string, folder: PathHandle, name: string): Promise<void> {
  using source = openRegular(from, from)
  const target = openForWriting(folder, name)
  try {
    ftruncateSync(target, 0)
    await copyContent(source, target, { digest: false })
    const { uid, gid, mode, atimeNs, mtimeNs } = source.stat
    if (process.geteuid?.() === 0)
      give({ uid: Number(uid), gid: Number(gid) }, (user, group) => fchownSync(target, user, group))
    fchmodSync(target, Number(mode & 0o777n))
    futimesSync(target, Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9)
  } finally {
    closeSync(target)
  }
}

/** A file that does not let its owner write is made anew. */
function openForWriting(folder: PathHandle, name: string): number {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  const open = () => openSync(`${folder.self}/${name}`, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  try {
    return open()
  } catch {
    clearAway(entryIn(folder, name))
    return open()
  }
}

/** The names in a folder of a root; none if the path does not lead to a folder. */
export function namesBelow(root: string, path: string): string[] {
  try {
    using below = holdRoot(root)
    return readdirSync(below.at(path).self).map((name) => join(path, name))
  } catch {
    return []
  }
}
