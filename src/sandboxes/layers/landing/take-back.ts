import { chmodSync, linkSync, renameSync, unlinkSync, type BigIntStats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import { systemErrorName } from '../../files/file-failure.ts'
import type { PathHandle } from '../../files/path-handle.ts'
import { createOnly } from '../../files/put-in-place.ts'
import { lookAt, requireUnchangedBelow } from './expected.ts'
import { holdIn, type Folders } from './folders.ts'
import { isMarked, type LandingNote, type NotedUnit } from './landing-note.ts'
import { openForMoving, openModes, restoreModes } from './modes.ts'
import type { NotTakenBack } from './not-taken-back.ts'
import { nameOfBefore, nameOfNew, type HeldRoot, type HeldRoots } from './stage.ts'
import { createTurns } from './turns.ts'

/**
 * Takes back what is in force of a landing, the last step first. It looks at what is there, so that it can be repeated if it was broken off. What another
 * program changed since stays, and the content of before gets a name beside it.
 */
export async function takeBack(note: LandingNote, roots: HeldRoots): Promise<NotTakenBack[]> {
  const left: NotTakenBack[] = []
  const turns = createTurns()
  openModes(note, roots)
  for (const unit of note.units.toReversed()) {
    await turns()
    const held = roots[unit.root]
    if (held === undefined) continue
    const path = join(held.folders.top.real, unit.path)
    try {
      const kept = await takeUnitBack(unit, { ...held, since: BigInt(note.since) })
      if (kept !== undefined) left.push({ path, kept: kept === '' ? undefined : kept })
    } catch (error) {
      left.push({ path, kept: undefined, error })
    }
  }
  restoreModes(note, roots)
  return left
}

interface Held extends HeldRoot {
  readonly since: bigint
}

/** Returns undefined if the place is as it was before; else where the content of before is kept, `''` if there was none. */
async function takeUnitBack(unit: NotedUnit, held: Held): Promise<string | undefined> {
  const { folders, stage } = held
  const old = { at: `${stage.self.self}/${nameOfBefore(unit.number)}` }
  const before = lookAt(old.at)
  const folder = folderOf(unit, folders)
  if (folder === undefined) return before && keepAt(folders.top, unit, { held, before })
  const at = `${folder.self}/${basename(unit.path)}`
  const now = lookAt(at)
  if (unit.step === 'create')
    return now === undefined || !isIts(now, unit) ? undefined : await takeNewAway(unit, { held, folder, now })
  if (before === undefined || now?.ino === before.ino) return undefined
  if (now !== undefined && !(unit.step === 'replace' && isMarked(now, unit.after)))
    return keepAt(folder, unit, { held, before })
  if (now !== undefined) renameSync(old.at, at)
  else if (before.isDirectory()) moveFolderBack(unit, { held, folder })
  else createOnly(old.at, at, unit.path)
  return undefined
}

function folderOf(unit: NotedUnit, folders: Folders): PathHandle | undefined {
  try {
    return folders.at(dirname(unit.path))
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemErrorName(error) ?? '')) return undefined
    throw error
  }
}

function isIts(now: BigIntStats, { after }: NotedUnit): boolean {
  return after !== undefined && String(now.ino) === after.inode && now.isDirectory() === after.isFolder
}

async function takeNewAway(
  unit: NotedUnit,
  { held, folder, now }: { held: Held; folder: PathHandle; now: BigIntStats },
): Promise<string | undefined> {
  const name = basename(unit.path)
  const at = `${folder.self}/${name}`
  if (!now.isDirectory()) {
    if (!isMarked(now, unit.after)) return ''
    unlinkSync(at)
    return undefined
  }
  using top = holdIn(folder, name)
  try {
    const expect = { had: 'directory', unchangedSince: held.since } as const
    await requireUnchangedBelow(top, { root: '', path: unit.path, to: { kind: 'none' }, expect })
  } catch (error) {
    if (error instanceof ToolFailure) return ''
    throw error
  }
  openForMoving(top)
  renameSync(at, `${held.stage.self.self}/${nameOfNew(unit.number)}`)
  return undefined
}

function moveFolderBack(unit: NotedUnit, { held, folder }: { held: Held; folder: PathHandle }): void {
  using top = holdIn(held.stage.self, nameOfBefore(unit.number))
  openForMoving(top)
  renameSync(`${held.stage.self.self}/${nameOfBefore(unit.number)}`, `${folder.self}/${basename(unit.path)}`)
  if (unit.before !== undefined) chmodSync(top.self, unit.before.mode)
}

/** Puts the content of before under a name beside its place: always the same one, so that it does so once. */
function keepAt(
  folder: PathHandle,
  unit: NotedUnit,
  { held, before }: { held: Held; before: BigIntStats },
): string {
  const { stage } = held
  const name = basename(unit.path)
  const mark = `before-${stage.name.slice('.handrail-'.length).slice(0, 8)}-${unit.number}`
  const kept = Buffer.byteLength(name) < 200 ? `${name}.${mark}` : mark
  const from = `${stage.self.self}/${nameOfBefore(unit.number)}`
  const to = `${folder.self}/${kept}`
  const there = lookAt(to)
  if (there?.ino === before.ino) return join(folder.real, kept)
  if (there !== undefined) throw Object.assign(new Error('EEXIST: the name is taken'), { code: 'EEXIST' })
  if (before.isDirectory()) renameSync(from, to)
  else {
    try {
      linkSync(from, to)
    } catch {
      renameSync(from, to)
    }
  }
  return join(folder.real, kept)
}
