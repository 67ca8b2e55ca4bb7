import { lstatSync, readdirSync, rmSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPath } from '../files/open-path.ts'
import { clearAway } from '../files/trees/clear-away.ts'
import { entryIn } from '../files/trees/entry.ts'
import type { GuardedPlaces } from '../visible/guarded-places.ts'
import { isLandingNote, isTakenLanding } from '../layers/landing/landing-note.ts'
import { notedStages, recoverLanding } from '../layers/landing/recover-landings.ts'
import { setAside, StillThere } from './set-aside.ts'
import { isAsideNote, noteAside, readAsideNote } from '../leftovers/aside-notes.ts'
import { isGuardNote, isTaken, takeGuardNote } from '../leftovers/guard-notes.ts'
import { markOfNote, notesFolder } from '../leftovers/notes.ts'
import { isOver, isRunning, ownMark, processMark } from '../leftovers/process-mark.ts'
import { readUnfinished } from '../leftovers/unfinished-files.ts'

/** How long this process waits for another one that does what a note asks for, in milliseconds: that one may have been stopped. */
const patience = 5_000

const ownName = new RegExp(`^handrail-(${processMark.source})-`)
/** The look for what is left that began last in this process: one follows the other. */
let last: Promise<void> | undefined
/** What was found under protected names and is not told yet, by the note of it. */
const untold = new Map<string, string>()

/**
 * Removes what killed processes left: their folders for temporary files, and the files that they had not finished; and sets aside what their
 * commands made under protected names; takes back what they were landing. A process that has done so does it again only if more was left since.
 */
export function sweepLeftovers(): Promise<void> {
  last = last?.then(sweepMore) ?? sweepAll()
  return last
}

async function sweepMore(): Promise<void> {
  const runs = rememberRunning()
  // Twice, as a note that another process takes may be missing in one look.
  if (![tmpdir(), notesFolder, notesFolder].every((folder) => isQuiet(folder, runs))) await sweepAll()
}

/** Asks the system about each process once, as one may have written much. */
function rememberRunning(): (mark: string) => boolean {
  const known = new Map<string, boolean>()
  return (mark) => {
    const runs = known.get(mark) ?? isRunning(mark)
    known.set(mark, runs)
    return runs
  }
}

async function sweepAll(): Promise<void> {
  // What is not there, or not to be listed, has nothing.
  for (const folder of new Set([tmpdir(), notesFolder])) await sweep(folder).catch(() => {})
}

/** Whether all that processes wrote in a folder is of processes that run, no process does what a note there asks for, and this one has read what they found. */
function isQuiet(folder: string, runs: (mark: string) => boolean): boolean {
  try {
    return readdirSync(folder).every((name) => {
      if (!name.startsWith('handrail-')) return true
      const path = join(folder, name)
      if (isAsideNote(path)) return untold.has(path)
      const mark = markOfNote(path) ?? ownName.exec(name)?.[1]
      return mark === undefined || (runs(mark) && !isTaken(path) && !isTakenLanding(path))
    })
  } catch {
    return true
  }
}

/** What was found under protected names in these places, also by another process, and is not told yet. */
export function takeUntold(isMine: (path: string) => boolean): readonly string[] {
  const told = [...untold].filter(([, path]) => isMine(path))
  for (const [note] of told) {
    untold.delete(note)
    rmSync(note, { force: true })
  }
  return told.map(([, path]) => path)
}

/** Returns once what is asked for is done, also what another process does. */
async function sweep(folder: string): Promise<void> {
  const real = await realpath(folder)
  const end = performance.now() + patience
  for (let quiet = 0; quiet < 2 && performance.now() < end;) {
    // A note that another process takes, which renames it, may be missing in one list, and is in the other. Elsewhere no notes stand.
    const first = await listOurs(real)
    const lists = [first, real === notesFolder ? await listOurs(real) : first] as const
    const isAtWork = await findOthersAtWork(lists)
    if (lists.every(({ notes }) => notes.length === 0)) return
    // What another process writes and removes during one look may be seen under none of its names.
    quiet = isAtWork ? 0 : quiet + 1
    if (quiet === 0) await sleep(10)
  }
}

/** What processes wrote in a folder, each with what it is known by. */
interface Ours {
  readonly notes: readonly string[]
  readonly folders: readonly { readonly path: string; readonly mark: string }[]
}

async function listOurs(folder: string): Promise<Ours> {
  const notes: string[] = []
  const folders: Ours['folders'][number][] = []
  for (const name of await readdir(folder)) {
    if (!name.startsWith('handrail-')) continue
    const path = join(folder, name)
    const [, mark] = ownName.exec(name) ?? []
    if (markOfNote(path) !== undefined) notes.push(path)
    else if (mark !== undefined) folders.push({ path, mark })
  }
  return { notes, folders }
}

/** Does what is asked for in a folder, as two lists of it show it. Returns whether another process took a part of it and is not done. */
async function findOthersAtWork([first, second]: readonly [Ours, Ours]): Promise<boolean> {
  let isAtWork = await recoverLandings(first.notes, second.notes)
  for (const path of second.notes) {
    const mark = markOfNote(path)
    if (mark !== undefined) isAtWork = !obey(path, mark) || isAtWork
  }
  for (const { path, mark } of second.folders) if (isOver(mark)) remove(path)
  return isAtWork
}

/** Takes back what killed processes were landing, before what they had not finished is removed. Returns whether another process does a part of it. */
async function recoverLandings(first: readonly string[], second: readonly string[]): Promise<boolean> {
  let isAtWork = false
  for (const path of first) {
    const mark = markOfNote(path)
    if (mark === undefined || !isLandingNote(path)) continue
    if (lstatSync(path, { throwIfNoEntry: false })?.uid !== process.geteuid?.()) continue
    if (!isOver(mark)) isAtWork ||= isTakenByOther(path)
    // What fails stays noted, for the next start.
    else if ((await recoverLanding(path).catch(() => [])) === undefined) isAtWork = true
  }
  // A note that another process took during the first look was perhaps seen under neither of its names.
  return isAtWork || second.some(isTakenByOther)
}

function isTakenByOther(path: string): boolean {
  const mark = markOfNote(path)
  return mark !== undefined && isTakenLanding(path) && isRunning(mark) && mark !== ownMark()
}

/** Does what a note of this user asks for, if the process that wrote it is over. False if another process does it, or has just done it. */
function obey(path: string, mark: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return !isTaken(path)
  if (stat.uid !== process.geteuid?.()) return true
  const found = isAsideNote(path) ? readAsideNote(path) : undefined
  if (found !== undefined) {
    untold.set(path, found)
    return true
  }
  if (!isOver(mark)) return !(isTaken(path) && isRunning(mark))
  if (isGuardNote(path)) return obeyGuard(path)
  if (isLandingNote(path)) return true
  const stages = notedStages()
  for (const each of readUnfinished(path)) if (!stages.has(each)) remove(each)
  remove(path)
  return true
}

/** False if another process took the note first. */
function obeyGuard(path: string): boolean {
  const taken = takeGuardNote(path)
  if (taken === undefined) return false
  for (const each of clear(taken.present)) untold.set(noteAside(each), each)
  taken.forget()
  return true
}

/** The places of what stood where nothing may be, whether or not it could be put elsewhere. */
function clear(present: GuardedPlaces['present']): readonly string[] {
  try {
    return setAside({ present })
  } catch (error) {
    return error instanceof StillThere ? error.paths : []
  }
}

/** By its folder held open, and only if no link leads to that. */
function remove(path: string): void {
  try {
    using directory = openPath(dirname(path))
    if (directory.real === dirname(path)) clearAway(entryIn(directory, basename(path)))
  } catch {
    // It is gone, or belongs to another user.
  }
}
