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
 * Shows a program in an overlay what another program made of a path: it is written through the overlay, so that the program and its watchers see it, and
 * what the kernel remembers of the path is no more. `isInLayer` says that the layer has the path already. False if there is nothing to show. No process of
 * the program runs meanwhile.
 */
export async function showPath(
  { root, merged }: ShownRoot,
  path: string,
  isInLayer: boolean,
): Promise<boolean> {
  using below = holdRoot(root)
  using above = holdFolders(openPath(merged))
  const name = basename(path)
  const from = `${below.at(dirname(path)).self}/${name}`
  const folder = above.at(dirname(path))
  const to = `${folder.self}/${name}`
  const [stat, there] = [lookAt(from), lookAt(to)]
  const [kind, kindThere] = [kindOf(stat), kindOf(there)]
  if (kind === 'special') return false
  if (there !== undefined && kind !== kindThere) await clearAwayGently(entryIn(folder, name))
  if (stat === undefined) return there !== undefined
  if (kind === 'directory') {
    if (kindThere === 'directory') return false
    mkdirSync(to, Number(stat.mode & 0o777n))
    return true
  }
  if (kind === 'link') {
    const target = readlinkSync(from)
    if (kindThere === 'link') {
      if (readlinkSync(to) === target) return false
      clearAway(entryIn(folder, name))
    }
    symlinkSync(target, to)
    return true
  }
  if (stat.size > mostBytes) return false
  if (isInLayer && kindThere === 'file' && there?.size === stat.size && hasSameContent(from, to)) return false
  await writeThrough(from, folder, name)
  return true
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

/** The names in a folder of a root; none if there is no folder at the path. */
export function namesBelow(root: string, path: string): string[] {
  try {
    using below = holdRoot(root)
    return readdirSync(below.at(path).self).map((name) => join(path, name))
  } catch {
    return []
  }
}
