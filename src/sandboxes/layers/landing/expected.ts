import { lstatSync, readlinkSync, type BigIntStats, type Stats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { PathState } from '../../../contract/base/effects.ts'
import { systemErrorName } from '../../files/file-failure.ts'
import { digestOf, openRegular } from './content.ts'
import { holdIn, type Folders } from './folders.ts'
import { kindBefore, type LandingItem } from './item.ts'
import { changedSince, takenSince, toLandingFailure } from './landing-failure.ts'
import { walkBelow } from './walk-below.ts'

/** What is at a path of `node:fs` itself; undefined if there is nothing. */
export function lookAt(at: string): BigIntStats | undefined {
  return lstatSync(at, { bigint: true, throwIfNoEntry: false })
}

/** Which kind of thing this is. */
export function kindOf(stat: Stats | BigIntStats | undefined): PathState['kind'] {
  if (stat === undefined) return 'none'
  if (stat.isFile()) return 'file'
  if (stat.isDirectory()) return 'directory'
  return stat.isSymbolicLink() ? 'link' : 'special'
}

/**
 * Returns what is at the place of an item. Fails with `stale_preview` or `path_conflict` if it is not what the item expects: for a removed folder,
 * all that is in it counts.
 */
export async function requireExpected(folders: Folders, item: LandingItem): Promise<BigIntStats | undefined> {
  const path = join(item.root, item.path)
  try {
    const folder = folders.at(dirname(item.path))
    const name = basename(item.path)
    const at = `${folder.self}/${name}`
    const stat = lookAt(at)
    requireKind(item, stat, path)
    if (stat === undefined) return undefined
    await requireSame(item, at, stat)
    if (isWholeTree(item)) {
      using top = holdIn(folder, name)
      await requireUnchangedBelow(top, item)
    }
    return stat
  } catch (error) {
    throw toLandingFailure(error, path)
  }
}

/** Whether the item removes a folder with all that is in it. */
export function isWholeTree(item: LandingItem): boolean {
  return 'had' in item.expect && item.expect.had === 'directory' && item.to.kind !== 'directory'
}

/** Fails if something below the folder of this item was changed, made or removed since. */
export async function requireUnchangedBelow(
  top: Folders['top'],
  { root, path, expect }: LandingItem,
): Promise<void> {
  if ('state' in expect) return
  await walkBelow(top, (found) => {
    if (found.stat.ctimeNs > expect.unchangedSince) throw changedSince(join(root, path, found.path))
  })
}

function requireKind(item: LandingItem, stat: BigIntStats | undefined, path: string): void {
  const kind = kindOf(stat)
  const before = kindBefore(item)
  if (kind === before) return
  throw before === 'none' ? takenSince(path) : changedSince(path)
}

async function requireSame(
  { root, path, to, expect }: LandingItem,
  at: string,
  stat: BigIntStats,
): Promise<void> {
  const isSame =
    'state' in expect
      ? await isInState(at, stat, expect.state)
      : // What is put into a folder changes it too, and nothing of that is lost if it gets another mode.
        to.kind === 'directory' && expect.had === 'directory'
        ? true
        : stat.ctimeNs <= expect.unchangedSince
  if (!isSame) throw changedSince(join(root, path))
}

async function isInState(at: string, stat: BigIntStats, state: PathState): Promise<boolean> {
  if ('mode' in state && state.mode !== Number(stat.mode & 0o777n)) return false
  if (state.kind === 'link') return readlinkSync(at) === state.target
  if (state.kind !== 'file') return true
  if (BigInt(state.bytes) !== stat.size) return false
  try {
    using file = openRegular(at, at)
    return (await digestOf(file)) === state.digest
  } catch (error) {
    if (systemErrorName(error) === 'ELOOP') return false
    throw error
  }
}
