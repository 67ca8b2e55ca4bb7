import { lstatSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { openEntry, openPath } from '../files/open-path.ts'
import type { PathHandle } from '../files/path-handle.ts'
import type { Change } from './change.ts'
import { kindOf } from './landing/expected.ts'
import {
  count,
  inOrder,
  likenessOf,
  namesIn,
  openClosed,
  rawNamesIn,
  removal,
  requireDepth,
  statOf,
  toChanges,
  toNames,
  toReadFailure,
  unlessClosed,
  unlike,
  type Tally,
} from './read-entry.ts'

/** Where a root, its layer, and both together are to be seen by this process. */
export interface LayeredRoot {
  /** Where it really is. */
  readonly root: string
  /** What was written: the folder that the kernel keeps for an overlay. */
  readonly upper: string
  /** What the command saw at its end. */
  readonly merged: string
  /** What of it is not looked at, folders apart. */
  readonly skips?: ((path: string) => boolean) | undefined
}

/** One walk through a layer. */
interface Walk extends Tally {
  readonly layered: LayeredRoot
  readonly changes: Change[]
}

/** A folder of the layer, and the same one without the layer, if that is a folder with no link on the way. */
interface Folder {
  readonly path: string
  readonly depth: number
  readonly lower: PathHandle | undefined
}

/**
 * Reads what a command changed below a root. No process writes to the layer any more. Nothing of it is believed but kinds, modes and
 * sizes, and no link is followed: neither in the layer nor below the root, where each folder is held open. Fails with `file_limit` for a layer that is too
 * large, too deep or has names that are not UTF-8.
 */
export async function readOverlay(layered: LayeredRoot): Promise<Change[]> {
  const walk: Walk = { layered, changes: [], entries: 0 }
  using lower = openPath(layered.root)
  try {
    await readFolder(walk, { path: '', depth: 0, lower })
  } catch (error) {
    throw toReadFailure(error)
  }
  return inOrder(walk.changes)
}

async function readFolder(walk: Walk, { path, depth, lower }: Folder): Promise<void> {
  requireDepth(depth)
  const { layered, changes } = walk
  openClosed(join(layered.merged, path))
  const names = namesIn(join(layered.upper, path))
  for (const name of names) {
    await count(walk)
    const { found, isFolder, wasFolder } = readEntry(layered, { folder: path, name, lower })
    changes.push(...found)
    if (!isFolder) continue
    using below = lower !== undefined && wasFolder ? openEntry(lower, name) : undefined
    const held = below?.stat.isDirectory() === true ? below : undefined
    await readFolder(walk, { path: join(path, name), depth: depth + 1, lower: held })
  }
  if (lower === undefined) return
  // The kernel marks a folder that replaced another one where only it looks; what is gone from it is not to be seen any more.
  const own = names.map((name) => Buffer.from(name))
  const seen = new Set([...own, ...rawNamesIn(join(layered.merged, path))].map(toKey))
  for (const raw of unlessClosed(() => rawNamesIn(lower.self)) ?? []) {
    if (seen.has(toKey(raw))) continue
    const [name = ''] = toNames([raw])
    await count(walk)
    changes.push(removal(layered.root, join(path, name), kindOf(statOf(join(lower.self, name)))))
  }
}

interface Entry {
  readonly folder: string
  readonly name: string
  readonly lower: PathHandle | undefined
}

function readEntry(
  { root, upper, skips }: LayeredRoot,
  { folder, name, lower }: Entry,
): { found: Change[]; isFolder: boolean; wasFolder: boolean } {
  const path = join(folder, name)
  const inLayer = join(upper, path)
  const at = lower && join(lower.self, name)
  const stat = lstatSync(inLayer)
  if (!stat.isDirectory() && skips?.(path) === true) return { found: [], isFolder: false, wasFolder: false }
  const before = at === undefined ? undefined : statOf(at)
  const had = kindOf(before)
  if (isWhiteout(stat))
    return { found: had === 'none' ? [] : [removal(root, path, had)], isFolder: false, wasFolder: false }
  const found = toChanges({ root, path, stat, at: inLayer, had }, (change) =>
    before === undefined || at === undefined ? unlike : likenessOf(change, { before, stat, at, inLayer }),
  )
  return { found, isFolder: stat.isDirectory(), wasFolder: had === 'directory' }
}

/** As the kernel notes in a layer that something was removed. */
function isWhiteout(stat: Stats): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0
}

/** Names that are not UTF-8 are told apart too. */
function toKey(name: Buffer): string {
  return name.toString('latin1')
}
