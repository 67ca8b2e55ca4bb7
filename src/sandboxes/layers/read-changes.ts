import { isUtf8 } from 'node:buffer'
import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as giveWay } from 'node:timers/promises'
import { ToolFailure } from '../../contract/base/errors.ts'
import { systemErrorName } from '../files/file-failure.ts'
import { openEntry, openPath } from '../files/open-path.ts'
import type { PathHandle } from '../files/path-handle.ts'
import type { Change, Kind } from './change.ts'

/** Where a root, its layer, and both together are to be seen by this process. */
export interface LayeredRoot {
  /** Where it really is. */
  readonly root: string
  /** What was written: the folder that the kernel keeps for an overlay. */
  readonly upper: string
  /** What the command saw at its end. */
  readonly merged: string
}

/** What is read of a layer at most. */
const maxEntries = 250_000
const maxDepth = 128
const entriesATurn = 1_000

/** One walk through a layer. */
interface Walk {
  readonly layered: LayeredRoot
  readonly changes: Change[]
  entries: number
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
export async function readChanges(layered: LayeredRoot): Promise<Change[]> {
  const walk: Walk = { layered, changes: [], entries: 0 }
  using lower = openPath(layered.root)
  try {
    await readFolder(walk, { path: '', depth: 0, lower })
  } catch (error) {
    throw systemErrorName(error) === 'ENAMETOOLONG' ? tooLarge('has paths that are too long') : error
  }
  return walk.changes.toSorted((one, other) => order(one) - order(other) || compare(one.path, other.path))
}

async function readFolder(walk: Walk, { path, depth, lower }: Folder): Promise<void> {
  if (depth > maxDepth) throw tooLarge(`is more than ${maxDepth} folders deep`)
  const { layered, changes } = walk
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
  const seen = new Set([...names, ...namesIn(join(layered.merged, path))])
  for (const name of namesIn(lower.self)) {
    if (seen.has(name)) continue
    await count(walk)
    changes.push(removal(layered, join(path, name), kindOf(statOf(join(lower.self, name)))))
  }
}

async function count(walk: Walk): Promise<void> {
  if (++walk.entries % entriesATurn === 0) await giveWay()
  if (walk.entries > maxEntries) throw tooLarge(`has more than ${maxEntries} files and folders`)
}

/** Removals first, so that what takes a place finds it free; then each directory before what is in it. */
function order({ kind }: Change): number {
  return kind === 'none' ? 0 : 1
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

interface Entry {
  readonly folder: string
  readonly name: string
  readonly lower: PathHandle | undefined
}

function readEntry(
  layered: LayeredRoot,
  { folder, name, lower }: Entry,
): { found: Change[]; isFolder: boolean; wasFolder: boolean } {
  const path = join(folder, name)
  const at = lower && join(lower.self, name)
  const stat = lstatSync(join(layered.upper, path))
  const before = at === undefined ? undefined : statOf(at)
  const [kind, had] = [kindOf(stat), kindOf(before)]
  if (isWhiteout(stat))
    return { found: had === 'none' ? [] : [removal(layered, path, had)], isFolder: false, wasFolder: false }
  const change: Change = {
    root: layered.root,
    path,
    kind,
    had,
    mode: stat.mode & 0o777,
    size: kind === 'file' ? stat.size : 0,
    ...(kind === 'link' && { target: readlinkSync(join(layered.upper, path)) }),
  }
  const isReplaced = had !== 'none' && (kind === 'directory') !== (had === 'directory')
  const found = isReplaced
    ? [removal(layered, path, had), { ...change, had: 'none' as const }]
    : isSame(change, { before, stat, at })
      ? []
      : [change]
  return { found, isFolder: kind === 'directory', wasFolder: had === 'directory' }
}

/** Copied into the layer, as the kernel does it with all that is opened for writing, and left as it was. */
function isSame(
  { kind, had, target }: Change,
  { before, stat, at }: { before: Stats | undefined; stat: Stats; at: string | undefined },
): boolean {
  if (before === undefined || at === undefined || kind !== had) return false
  if (kind === 'link') return readlinkSync(at) === target
  if ((before.mode & 0o777) !== (stat.mode & 0o777)) return false
  return kind === 'directory' || (before.size === stat.size && before.mtimeMs === stat.mtimeMs)
}

function removal({ root }: LayeredRoot, path: string, had: Kind): Change {
  return { root, path, kind: 'none', had, mode: 0, size: 0 }
}

/** As the kernel notes in a layer that something was removed. */
function isWhiteout(stat: Stats): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0
}

function kindOf(stat: Stats | undefined): Kind {
  if (stat === undefined) return 'none'
  if (stat.isFile()) return 'file'
  if (stat.isDirectory()) return 'directory'
  return stat.isSymbolicLink() ? 'link' : 'special'
}

function statOf(path: string): Stats | undefined {
  return unlessClosed(() => lstatSync(path))
}

function namesIn(folder: string): string[] {
  const names = unlessClosed(() => readdirSync(folder, { encoding: 'buffer' })) ?? []
  if (!names.every((name) => isUtf8(name))) throw tooLarge('has names that are not UTF-8')
  return names.map((name) => name.toString())
}

/** Undefined for what is not there, or was closed by the command: of that no more is told. */
function unlessClosed<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(systemErrorName(error) ?? '')) return undefined
    throw error
  }
}

function tooLarge(why: string): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'file_limit',
    message: `What the command changed ${why}, so it cannot be shown. Nothing was kept. Let it change less, or run it without a dry run.`,
  })
}
