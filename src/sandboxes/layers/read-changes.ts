import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as giveWay } from 'node:timers/promises'
import { ToolFailure } from '../../contract/base/errors.ts'
import { systemErrorName } from '../files/file-failure.ts'
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

/** Entries of a layer that are read at most. */
const maxEntries = 250_000
const entriesATurn = 1_000

/**
 * Reads what a command changed below a root. No process writes to the layer any more, and nothing that it has is believed but the kinds, modes and
 * bytes: no link is followed. Fails with `file_limit` for a layer that is too large.
 */
export async function readChanges(layered: LayeredRoot): Promise<Change[]> {
  const changes: Change[] = []
  const folders = ['']
  let entries = 0
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const names = new Set(readdirSync(join(layered.upper, folder)))
    for (const name of names) {
      if (++entries % entriesATurn === 0) await giveWay()
      if (entries > maxEntries) throw tooLarge()
      const path = join(folder, name)
      const change = readEntry(layered, path)
      changes.push(...change.changes)
      if (change.isFolder) folders.push(path)
    }
    // The kernel marks a directory that replaced another one where only it looks; what is gone from it is not to be seen any more.
    const seen = new Set(namesIn(join(layered.merged, folder)))
    for (const name of namesIn(join(layered.root, folder)))
      if (!names.has(name) && !seen.has(name)) changes.push(removal(layered, join(folder, name)))
  }
  return changes.toSorted((one, other) => order(one) - order(other) || compare(one.path, other.path))
}

/** Removals first, so that what takes a place finds it free; then each directory before what is in it. */
function order({ kind }: Change): number {
  return kind === 'none' ? 0 : 1
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

function readEntry(layered: LayeredRoot, path: string): { changes: Change[]; isFolder: boolean } {
  const stat = lstatSync(join(layered.upper, path))
  const before = statOf(join(layered.root, path))
  const [kind, had] = [kindOf(stat), kindOf(before)]
  if (isWhiteout(stat)) return { changes: had === 'none' ? [] : [removal(layered, path)], isFolder: false }
  const change: Change = {
    root: layered.root,
    path,
    kind,
    had,
    mode: stat.mode & 0o777,
    size: kind === 'file' ? stat.size : 0,
    ...(kind === 'link' && { target: readlinkSync(join(layered.upper, path)) }),
  }
  const replaced = had !== 'none' && (kind === 'directory') !== (had === 'directory')
  return {
    changes: [
      ...(replaced ? [removal(layered, path)] : []),
      ...(isSame(change, { before, stat, layered })
        ? []
        : [replaced ? { ...change, had: 'none' as const } : change]),
    ],
    isFolder: kind === 'directory',
  }
}

/** Copied into the layer, as the kernel does it with all that is opened for writing, and left as it was. */
function isSame(
  { kind, had, path, target }: Change,
  { before, stat, layered }: { before: Stats | undefined; stat: Stats; layered: LayeredRoot },
): boolean {
  if (before === undefined || kind !== had) return false
  if (kind === 'link') return readlinkSync(join(layered.root, path)) === target
  if ((before.mode & 0o777) !== (stat.mode & 0o777)) return false
  return kind === 'directory' || (before.size === stat.size && before.mtimeMs === stat.mtimeMs)
}

function removal({ root }: LayeredRoot, path: string): Change {
  return { root, path, kind: 'none', had: kindOf(statOf(join(root, path))), mode: 0, size: 0 }
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
  try {
    return lstatSync(path)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemErrorName(error) ?? '')) return undefined
    throw error
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemErrorName(error) ?? '')) return []
    throw error
  }
}

function tooLarge(): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'file_limit',
    message: `The command changed more than ${maxEntries} files and directories, which is too much to show. Nothing was kept. Let it write fewer.`,
  })
}
