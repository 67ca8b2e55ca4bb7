import { isUtf8 } from 'node:buffer'
import { chmodSync, lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { setImmediate as giveWay } from 'node:timers/promises'
import { ToolFailure } from '../../contract/base/errors.ts'
import { systemErrorName } from '../files/file-failure.ts'
import type { Change, Kind } from './change.ts'
import { kindOf } from './landing/expected.ts'
import { hasSameContent } from './same-content.ts'

/** What is read of a layer at most. */
const maxEntries = 250_000
export const maxDepth = 128
const entriesATurn = 1_000

/** Counts what a walk through a layer comes to. */
export interface Tally {
  entries: number
}

/** Lets others run now and then. Fails with `file_limit` for a layer that is too large. */
export async function count(tally: Tally): Promise<void> {
  if (++tally.entries % entriesATurn === 0) await giveWay()
  if (tally.entries > maxEntries) throw tooLarge(`has more than ${maxEntries} files and folders`)
}

/** Fails with `file_limit` for a folder that is too deep. */
export function requireDepth(depth: number): void {
  if (depth > maxDepth) throw tooLarge(`is more than ${maxDepth} folders deep`)
}

/** Removals first, so that what takes a place finds it free; then each directory before what is in it. */
export function inOrder(changes: readonly Change[]): Change[] {
  return changes.toSorted((one, other) => order(one) - order(other) || compare(one.path, other.path))
}

function order({ kind }: Change): number {
  return kind === 'none' ? 0 : 1
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}

/** What a command left at a path, and what was there. */
export interface Found {
  readonly root: string
  readonly path: string
  readonly stat: Stats
  /** By which path this process sees it. */
  readonly at: string
  readonly had: Kind
}

/** What of a thing is as it was before. */
export interface Likeness {
  /** All of it, so that nothing changed. */
  readonly isSame: boolean
  readonly sameContent?: boolean
  readonly modeBefore?: number
}

/** What makes this of a path, if it is changed: a folder that took the place of something else is a removal too, and the other way round. */
export function toChanges(found: Found, compare: (change: Change) => Likeness): Change[] {
  const { root, path, stat, at, had } = found
  const kind = kindOf(stat)
  const change: Change = {
    root,
    path,
    kind,
    had,
    mode: stat.mode & 0o777,
    size: kind === 'file' ? stat.size : 0,
    ...(kind === 'link' && { target: readlinkSync(at) }),
  }
  const isReplaced = had !== 'none' && (kind === 'directory') !== (had === 'directory')
  if (isReplaced) return [removal(root, path, had), { ...change, had: 'none' }]
  const { isSame, sameContent, modeBefore } = compare(change)
  if (isSame) return []
  return [
    {
      ...change,
      ...(modeBefore !== undefined && { modeBefore }),
      ...(sameContent === true && { sameContent }),
    },
  ]
}

/** Nothing was there that it could be like. */
export const unlike: Likeness = { isSame: false }

/** What of a thing is as it was: what is opened for writing is copied into the layer, and may be left as it was. */
export function likenessOf(
  { kind, had, target }: Change,
  { before, stat, at, inLayer }: { before: Stats; stat: Stats; at: string; inLayer: string },
): Likeness {
  if (kind !== had) return unlike
  if (kind === 'link') return { isSame: readlinkSync(at) === target }
  const hasSameMode = (before.mode & 0o7777) === (stat.mode & 0o7777)
  const modeBefore = before.mode & 0o777
  if (kind !== 'file') return { isSame: hasSameMode && kind === 'directory', modeBefore }
  const sameContent = before.size === stat.size && hasSameContent(inLayer, at)
  return { isSame: hasSameMode && sameContent && before.mtimeMs === stat.mtimeMs, sameContent, modeBefore }
}

/** The command removed this. */
export function removal(root: string, path: string, had: Kind): Change {
  return { root, path, kind: 'none', had, mode: 0, size: 0 }
}

/** Undefined if nothing is there, or the command closed it. */
export function statOf(path: string): Stats | undefined {
  return unlessClosed(() => lstatSync(path))
}

/** The names in a folder; none if the command closed it. Fails with `file_limit` if one is not UTF-8. */
export function namesIn(folder: string): string[] {
  return toNames(unlessClosed(() => rawNamesIn(folder)) ?? [])
}

/** Fails if they cannot be read: what is not seen must not count as removed. */
export function rawNamesIn(folder: string): Buffer[] {
  return readdirSync(folder, { encoding: 'buffer' })
}

/** Fails with `file_limit` if one is not UTF-8. */
export function toNames(names: readonly Buffer[]): string[] {
  if (!names.every((name) => isUtf8(name))) throw tooLarge('has names that are not UTF-8')
  return names.map((name) => name.toString())
}

/** Opens a folder that is closed to this process's own user, so that what is in it is read. Returns what closes it again. */
export function openClosed(folder: string): () => void {
  const stat = statOf(folder)
  if (stat?.isDirectory() !== true || stat.uid !== process.geteuid?.() || (stat.mode & 0o500) === 0o500)
    return () => {}
  chmodSync(folder, (stat.mode & 0o777) | 0o700)
  return () => chmodSync(folder, stat.mode & 0o7777)
}

/** Undefined for what is not there, or was closed by the command: of that no more is told. */
export function unlessClosed<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(systemErrorName(error) ?? '')) return undefined
    throw error
  }
}

/** What a command changed cannot be read. */
export function tooLarge(why: string): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'file_limit',
    message: `What the command changed ${why}, so it cannot be shown. Nothing was kept. Let it change less.`,
  })
}

/** What a path that is longer than the system takes means. */
export function toReadFailure(error: unknown): unknown {
  return systemErrorName(error) === 'ENAMETOOLONG' ? tooLarge('has paths that are too long') : error
}
