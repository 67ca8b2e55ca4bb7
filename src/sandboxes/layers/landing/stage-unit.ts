import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  futimesSync,
  lchownSync,
  mkdirSync,
  openSync,
  symlinkSync,
  utimesSync,
  type BigIntStats,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { PathHandle } from '../../files/path-handle.ts'
import { ownerIn } from '../../files/owner-in.ts'
import { copyContent, openOwn } from './content.ts'
import { lookAt } from './expected.ts'
import { holdFolders, holdIn } from './folders.ts'
import { give, ownerOf } from './give.ts'
import type { LandingItem, Owner, Target } from './item.ts'
import { toLandingFailure } from './landing-failure.ts'
import type { Unit } from './plan.ts'
import { nameOfNew, type Stage } from './stage.ts'
import { createTurns } from './turns.ts'

/** How things are staged. */
export interface Staging {
  /** Whose what a command makes is; undefined if it is its folder's owner's, and what replaces a file that one's. */
  readonly owner: Owner | undefined
  /** Is told the digest and bytes of each file; if undefined, no file is hashed. */
  readonly onDigest: ((item: LandingItem, file: { digest: string; bytes: number }) => void) | undefined
}

/** A unit that is to be staged, and what is known of its place. */
export interface Staged {
  readonly unit: Unit
  readonly number: number
  readonly before: BigIntStats | undefined
  /** The folder that it lands in. */
  readonly above: PathHandle
}

/** Makes what a unit puts in force, under its number, whole but for the mode of a folder that its owner could not move. */
export async function stageUnit(
  stage: Stage,
  { unit, number, before, above }: Staged,
  staging: Staging,
): Promise<BigIntStats> {
  const way: Way = {
    ...staging,
    before,
    unowned: before === undefined ? ownerOfNew(above) : ownerOf(before),
  }
  const place = `${stage.self.self}/${nameOfNew(number)}`
  if (unit.item.to.kind === 'directory') await stageFolder(stage, { unit, number }, way)
  else await stageEntry(place, unit.item, way)
  const made = lookAt(place)
  if (made === undefined) throw new Error('what was staged is gone')
  return made
}

interface Way extends Staging {
  readonly before: BigIntStats | undefined
  readonly unowned: Owner | undefined
}

/** A folder has its mode when all is in it, and the topmost one lets itself be moved. */
async function stageFolder(
  stage: Stage,
  { unit, number }: Pick<Staged, 'unit' | 'number'>,
  way: Way,
): Promise<void> {
  const top = nameOfNew(number)
  using folders = holdFolders(holdIn(stage.above, stage.name))
  const closing: { at: string; to: Extract<Target, { kind: 'directory' }> }[] = []
  const turns = createTurns()
  for (const item of [unit.item, ...unit.below]) {
    await turns()
    const at = join(top, item.path.slice(unit.item.path.length))
    await stageEntry(`${folders.at(dirname(at)).self}/${basename(at)}`, item, way)
    if (item.to.kind === 'directory') closing.push({ at, to: item.to })
  }
  for (const { at, to } of closing.toReversed()) {
    await turns()
    const folder = folders.at(at)
    give(wantedOwner(to, way), (uid, gid) => chownSync(folder.self, uid, gid))
    if (to.times !== undefined) utimesSync(folder.self, to.times.atimeMs / 1000, to.times.mtimeMs / 1000)
    chmodSync(folder.self, (to.mode & 0o777) | (at === top ? 0o700 : 0))
  }
}

async function stageEntry(place: string, item: LandingItem, way: Way): Promise<void> {
  const { to } = item
  try {
    if (to.kind === 'file') await stageFile(place, { item, to }, way)
    else if (to.kind === 'directory') mkdirSync(place, 0o700)
    else if (to.kind === 'link') {
      symlinkSync(to.target, place)
      give(wantedOwner(to, way), (uid, gid) => lchownSync(place, uid, gid))
    }
  } catch (error) {
    throw toLandingFailure(error, join(item.root, item.path))
  }
}

async function stageFile(
  place: string,
  { item, to }: { item: LandingItem; to: Extract<Target, { kind: 'file' }> },
  { owner, unowned, onDigest }: Way,
): Promise<void> {
  using source = openOwn(to.from, join(item.root, item.path))
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const target = openSync(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
  try {
    const digest = await copyContent(source, target, { digest: onDigest !== undefined })
    // The user of a command can give nothing away, so the owner in a layer is the one that it would have without.
    give(owner === undefined ? unowned : ownerOf(source.stat), (uid, gid) => fchownSync(target, uid, gid))
    fchmodSync(target, to.mode & 0o777)
    const { atimeNs, mtimeNs } = source.stat
    if (to.keepTimes) futimesSync(target, Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9)
    if (digest !== undefined) onDigest?.(item, { digest, bytes: Number(fstatSync(target).size) })
  } finally {
    closeSync(target)
  }
}

function wantedOwner({ owner }: { owner?: Owner }, way: Way): Owner | undefined {
  return way.owner === undefined ? way.unowned : (owner ?? way.owner)
}

/** What is made in a folder with a set-group-id bit has the group of the folder. */
function ownerOfNew({ stat }: PathHandle): Owner | undefined {
  const { geteuid } = process
  return ownerIn(stat) ?? ((stat.mode & 0o2000) === 0 ? undefined : { uid: geteuid?.() ?? 0, gid: stat.gid })
}
