import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { GuardedPlaces, Names, Present } from '../visible/guarded-places.ts'
import { markOfNote, notePath, notesFolder, writeNote } from './notes.ts'
import { isOver, ownMark } from './process-mark.ts'
import { readOwn } from './read-own.ts'

/** What is noted of a command: of each root the protected names that were there before it. */
interface Note {
  readonly [root: string]: {
    readonly names: NotedNames
    readonly inside: { readonly [name: string]: NotedNames }
  }
}

type NotedNames = readonly (readonly [name: string, target: string])[]

/** What was there before each command that this process runs. */
const running = new Set<Present>()

/**
 * Notes that a command runs which may make what nothing may make there: what it made when this process is killed, the next one sets aside. Call
 * what this returns when that has been done.
 */
export function noteGuard({ present }: Pick<GuardedPlaces, 'present'>): () => void {
  const path = notePath('guard')
  running.add(present)
  try {
    writeNote(path, toNote(present))
  } catch {
    // If the folder takes no note, the command runs all the same.
  }
  return () => {
    running.delete(present)
    rmSync(path, { force: true })
  }
}

/** What was there before each command that runs now, those of other processes of this user too. */
export function runningGuards(): Present[] {
  return [...running, ...guardsOfOthers()]
}

function guardsOfOthers(): Present[] {
  try {
    return readdirSync(notesFolder)
      .filter((name) => isGuardNote(name))
      .map((name) => join(notesFolder, name))
      .filter((path) => isOthers(markOfNote(path)))
      .map(readGuardNote)
  } catch {
    // A folder that cannot be listed takes no notes either.
    return []
  }
}

function isOthers(mark: string | undefined): boolean {
  return mark !== undefined && mark !== ownMark() && !isOver(mark)
}

/** Whether a name is that of such a note. */
export function isGuardNote(name: string): boolean {
  return name.includes('-guard-')
}

/** Whether such a note is one that a process took, which does what it asks for. */
export function isTaken(name: string): boolean {
  return name.includes('-guard-taken-')
}

/** What a process of this user noted of a command: nothing if the note is not whole. Undefined if another process took it first. */
export function takeGuardNote(path: string): { present: Present; forget: () => void } | undefined {
  const taken = notePath('guard-taken')
  try {
    renameSync(path, taken)
  } catch {
    return undefined
  }
  return { present: readGuardNote(taken), forget: () => rmSync(taken, { force: true }) }
}

function readGuardNote(path: string): Present {
  try {
    const note = JSON.parse(readOwn(path)?.toString() ?? '{}') as Note
    return mapValues(Object.entries(note), ({ names, inside }) => ({
      names: new Map(names),
      inside: mapValues(Object.entries(inside), (each) => new Map(each)),
    }))
  } catch {
    return new Map()
  }
}

function toNote(present: Present): Note {
  const noted = (names: Names): NotedNames => [...names]
  return Object.fromEntries(
    mapValues(present, ({ names, inside }) => ({
      names: noted(names),
      inside: Object.fromEntries(mapValues(inside, noted)),
    })),
  )
}

function mapValues<Key, Value, Other>(
  entries: Iterable<readonly [Key, Value]>,
  map: (value: Value) => Other,
): Map<Key, Other> {
  return new Map([...entries].map(([key, value]) => [key, map(value)]))
}
