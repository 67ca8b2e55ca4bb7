import { renameSync, rmSync, type BigIntStats } from 'node:fs'
import { lastingNotePath, writeNote } from '../../leftovers/notes.ts'
import { readOwn } from '../../leftovers/read-own.ts'

/** What a landing does, noted before it begins, so that another process can take it back. */
export interface LandingNote {
  readonly roots: readonly NotedRoot[]
  readonly units: readonly NotedUnit[]
  readonly modes: readonly NotedMode[]
  /** When it was noted, in nanoseconds of the clock that `ctime` has. */
  readonly since: string
}

/** A root, and its stage: the folder that this lies in if that is not the root, its name there, and what tells it from another one of that name. */
export interface NotedRoot {
  readonly root: string
  readonly above?: string
  readonly stage: string
  readonly inode: string
}

/** A unit, by its number in the stage. */
export interface NotedUnit {
  readonly step: 'remove' | 'create' | 'replace'
  readonly number: number
  /** Which of the roots. */
  readonly root: number
  readonly path: string
  readonly before: Mark | undefined
  readonly after: Mark | undefined
}

/** A folder that stays and has another mode during the landing, or after it. */
export interface NotedMode {
  readonly root: number
  readonly path: string
  readonly before: number
  readonly after: number
}

/** What tells a thing from another one, and from the same one after it was changed. */
export interface Mark {
  readonly isFolder: boolean
  readonly inode: string
  readonly size: string
  readonly mtime: string
  readonly mode: number
}

export function toMark(stat: BigIntStats): Mark {
  return {
    isFolder: stat.isDirectory(),
    inode: String(stat.ino),
    size: stat.isDirectory() ? '' : String(stat.size),
    mtime: stat.isDirectory() ? '' : String(stat.mtimeNs),
    mode: Number(stat.mode & 0o7777n),
  }
}

/** Whether it is what was marked, and was not changed since. What is in a folder does not count. */
export function isMarked(stat: BigIntStats, mark: Mark | undefined): boolean {
  if (mark === undefined) return false
  const { isFolder, inode, size, mtime } = toMark(stat)
  return isFolder === mark.isFolder && inode === mark.inode && size === mark.size && mtime === mark.mtime
}

/** Notes a landing. Returns what removes the note, after which the landing stands. Throws if the note does not fit. */
export function noteLanding(note: LandingNote): () => void {
  const path = lastingNotePath('new')
  try {
    writeNote(path, note)
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
  return () => rmSync(path, { force: true })
}

/** Whether a path is that of such a note. */
export function isLandingNote(path: string): boolean {
  return path.includes('handrail-landing-')
}

/** Whether such a note is one that a process took, which takes the landing back. */
export function isTakenLanding(path: string): boolean {
  return isLandingNote(path) && path.includes('-taken-')
}

/** What a process of this user noted of a landing; undefined if the note is not whole: then nothing of it was in force. */
export function readLandingNote(path: string): LandingNote | undefined {
  try {
    return JSON.parse(readOwn(path)?.toString() ?? '') as LandingNote
  } catch {
    return undefined
  }
}

/** Takes over the note of a process that is over. Returns its new path; undefined if another process took it first. */
export function takeLandingNote(path: string): string | undefined {
  const taken = lastingNotePath('taken')
  try {
    renameSync(path, taken)
    return taken
  } catch {
    return undefined
  }
}
