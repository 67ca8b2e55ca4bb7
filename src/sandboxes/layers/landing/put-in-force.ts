import { chmodSync, linkSync, readdirSync, renameSync, type BigIntStats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { systemErrorName } from '../../files/file-failure.ts'
import type { PathHandle } from '../../files/path-handle.ts'
import { createOnly } from '../../files/put-in-place.ts'
import { isWholeTree, lookAt } from './expected.ts'
import { holdIn } from './folders.ts'
import { changedSince, takenSince, toLandingFailure } from './landing-failure.ts'
import type { LandingNote, NotedUnit } from './landing-note.ts'
import { openForMoving, openModes, setModes } from './modes.ts'
import type { Unit } from './plan.ts'
import { nameOfBefore, nameOfNew, type HeldRoots, type Stage } from './stage.ts'
import { createTurns } from './turns.ts'
import { walkBelow } from './walk-below.ts'

/** A unit with what was looked at before it is put in force. */
export interface ReadyUnit {
  readonly unit: Unit
  readonly noted: NotedUnit
  readonly before: BigIntStats | undefined
}

interface Place {
  readonly folder: PathHandle
  readonly name: string
  readonly at: string
  readonly path: string
}

/**
 * Does each step of a noted landing. Fails at the first place that is not what it was when it was looked at, and leaves the rest as it
 * is.
 */
export async function putInForce(
  ready: readonly ReadyUnit[],
  note: LandingNote,
  roots: HeldRoots,
): Promise<void> {
  const turns = createTurns()
  /** Things whose `ctime` this landing changed, since they have several names. */
  const touched = new Set<bigint>()
  openModes(note, roots)
  for (const each of ready) {
    await turns()
    const { item } = each.unit
    const path = join(item.root, item.path)
    const held = roots[each.noted.root]
    if (held === undefined) continue
    if (each.before !== undefined && each.before.nlink > 1n) touched.add(each.before.ino)
    try {
      const folder = held.folders.at(dirname(item.path))
      const name = basename(item.path)
      const place = { folder, name, at: `${folder.self}/${name}`, path }
      if (each.unit.step === 'remove') await remove(each, place, { stage: held.stage, touched })
      else if (each.unit.step === 'replace') replace(each, place, held.stage)
      else create(each, place, held.stage)
    } catch (error) {
      throw toLandingFailure(error, path)
    }
  }
  setModes(note, roots)
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  if (one.ino !== other.ino || one.dev !== other.dev || one.mode !== other.mode) return false
  return one.isDirectory() || (one.size === other.size && one.mtimeNs === other.mtimeNs)
}

async function remove(
  { unit, noted, before }: ReadyUnit,
  { folder, name, at, path }: Place,
  { stage, touched }: { stage: Stage; touched: Set<bigint> },
): Promise<void> {
  const aside = `${stage.self.self}/${nameOfBefore(noted.number)}`
  if (before?.isDirectory() !== true) {
    renameSync(at, aside)
    requireMoved(before, lookAt(aside), path)
    return
  }
  using top = holdIn(folder, name)
  if (BigInt(top.stat.ino) !== before.ino) throw changedSince(path)
  openForMoving(top)
  renameSync(at, aside)
  if (lookAt(aside)?.ino !== before.ino) throw changedSince(path)
  if (!isWholeTree(unit.item)) {
    if (readdirSync(top.self).length > 0) throw changedSince(path)
    return
  }
  const { expect } = unit.item
  if ('state' in expect) return
  using moved = holdIn(stage.self, nameOfBefore(noted.number))
  await walkBelow(moved, (found) => {
    if (found.stat.ctimeNs > expect.unchangedSince && !touched.has(found.stat.ino))
      throw changedSince(join(path, found.path))
    if (found.stat.nlink > 1n) touched.add(found.stat.ino)
  })
}

/** The name is there all the time, unless the file system knows no hard links. */
function replace({ noted, before }: ReadyUnit, { at, path }: Place, { self: stage }: Stage): void {
  const aside = `${stage.self}/${nameOfBefore(noted.number)}`
  const made = `${stage.self}/${nameOfNew(noted.number)}`
  if (link(at, aside)) {
    requireMoved(before, lookAt(aside), path)
    renameSync(made, at)
    return
  }
  renameSync(at, aside)
  requireMoved(before, lookAt(aside), path)
  createOnly(made, at, path)
}

function requireMoved(before: BigIntStats | undefined, moved: BigIntStats | undefined, path: string): void {
  if (before === undefined || moved === undefined || !isSame(before, moved)) throw changedSince(path)
}

/** False if this process may not link it, or the file system knows no links. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (['ENOENT', 'ENOSPC', 'EDQUOT', 'EROFS'].includes(systemErrorName(error) ?? '')) throw error
    return false
  }
}

function create({ unit, noted }: ReadyUnit, { folder, name, at, path }: Place, { self: stage }: Stage): void {
  const made = `${stage.self}/${nameOfNew(noted.number)}`
  const { to } = unit.item
  if (to.kind !== 'directory') {
    createOnly(made, at, path)
    return
  }
  if (lookAt(at) !== undefined) throw takenSince(path)
  renameSync(made, at)
  if ((to.mode & 0o700) === 0o700) return
  using top = holdIn(folder, name)
  if (String(top.stat.ino) === noted.after?.inode) chmodSync(top.self, to.mode & 0o777)
}
