import { renameSync, rmSync } from 'node:fs'
import type { GuardedPlaces, PresentNames } from '../places/guarded-places.ts'
import { notePath, writeNote } from './notes.ts'
import { readOwn } from './read-own.ts'

/** What is noted of a command: of each root the protected names that were there before it. */
interface Note {
  readonly [root: string]: {
    readonly names: string[]
    readonly inside: { readonly [name: string]: string[] }
  }
}

/**
 * Notes that a command runs which may make what nothing may make there: what it made when this process is killed, the next one sets aside. Call
 * what this returns when that has been done.
 */
export function noteGuard({ present }: Pick<GuardedPlaces, 'present'>): () => void {
  const path = notePath('guard')
  try {
    writeNote(path, toNote(present))
  } catch {
    // If the folder takes no note, the command runs all the same.
  }
  return () => rmSync(path, { force: true })
}

/** Whether a name is that of such a note. */
export function isGuardNote(name: string): boolean {
  return name.includes('-guard-')
}

/** What a process of this user noted of a command, for the first that takes it. Nothing if the note is not whole. */
export function takeGuardNote(path: string): { present: GuardedPlaces['present']; forget: () => void } {
  const taken = notePath('guard')
  try {
    renameSync(path, taken)
  } catch {
    return { present: new Map(), forget: () => {} }
  }
  return { present: readGuardNote(taken), forget: () => rmSync(taken, { force: true }) }
}

function readGuardNote(path: string): GuardedPlaces['present'] {
  try {
    const note = JSON.parse(readOwn(path)?.toString() ?? '{}') as Note
    return new Map(Object.entries(note).map(([root, each]) => [root, toPresent(each)]))
  } catch {
    return new Map()
  }
}

function toNote(present: GuardedPlaces['present']): Note {
  return Object.fromEntries(
    [...present].map(([root, { names, inside }]) => [
      root,
      { names: [...names], inside: Object.fromEntries([...inside].map(([name, each]) => [name, [...each]])) },
    ]),
  )
}

function toPresent({ names, inside }: Note[string]): PresentNames {
  return {
    names: new Set(names),
    inside: new Map(Object.entries(inside).map(([name, each]) => [name, new Set(each)])),
  }
}
