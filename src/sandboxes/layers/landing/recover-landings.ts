import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { systemErrorName } from '../../files/file-failure.ts'
import { markOfNote, notesFolder } from '../../leftovers/notes.ts'
import { noteUnfinished } from '../../leftovers/unfinished-files.ts'
import { holdRoot } from './folders.ts'
import {
  isLandingNote,
  readLandingNote,
  takeLandingNote,
  type LandingNote,
  type NotedRoot,
} from './landing-note.ts'
import type { NotTakenBack } from './not-taken-back.ts'
import { clearStage, holdStage, type HeldRoot } from './stage.ts'
import { takeBack } from './take-back.ts'

/** The stages that notes of landings name: only these notes say what becomes of them. */
export function notedStages(): Set<string> {
  for (;;) {
    const paths = readdirSync(notesFolder)
      .map((name) => join(notesFolder, name))
      .filter((path) => isLandingNote(path) && markOfNote(path) !== undefined)
    const notes = paths.map(readLandingNote)
    // A note that another process takes meanwhile has another name by now.
    if (!paths.every((path) => existsSync(path))) continue
    return new Set(
      notes.flatMap((note) => note?.roots ?? []).map(({ root, above = root, stage }) => join(above, stage)),
    )
  }
}

/**
 * Takes back the landing that a killed process noted here, and removes its stages. Resolves to undefined if another process took the note first. Broken
 * off, it can be done again from the note that it leaves. So it can if something could not be put back: then note and stage stay.
 */
export async function recoverLanding(path: string): Promise<readonly NotTakenBack[] | undefined> {
  const taken = takeLandingNote(path)
  if (taken === undefined) return undefined
  const note = readLandingNote(taken)
  const left = note === undefined ? [] : await recover(note, () => rmSync(taken, { force: true }))
  if (note === undefined) rmSync(taken, { force: true })
  return left
}

async function recover(note: LandingNote, forget: () => void): Promise<NotTakenBack[]> {
  using open = new DisposableStack()
  const roots = note.roots.map((each) => {
    const held = hold(each)
    return held && { folders: open.use(held.folders), stage: open.use(held.stage) }
  })
  const left = await takeBack(note, roots)
  if (left.some(({ error }) => error !== undefined)) return left
  const stages = roots.filter((held) => held !== undefined)
  const noted = stages.map(({ stage }) => noteUnfinished(join(stage.above.real, stage.name)))
  forget()
  for (const { stage } of stages) await clearStage(stage)
  for (const each of noted) each()
  return left
}

/** Undefined if the root or the stage is not there any more: then nothing is known of what was in it. */
function hold({ root, above = root, stage, inode }: NotedRoot): HeldRoot | undefined {
  using open = new DisposableStack()
  try {
    const folders = open.use(holdRoot(root))
    const held = open.use(holdStage(holdRoot(above).top, stage))
    if (String(held.self.stat.ino) !== inode) return undefined
    open.move()
    return { folders, stage: held }
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(systemErrorName(error) ?? '')) return undefined
    throw error
  }
}
