import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { notePath, writeNote } from './notes.ts'
import { readOwn } from './read-own.ts'

/** Notes that something was found under a protected name, until a call in that place has told it. Returns the path of the note. */
export function noteAside(found: string): string {
  const path = notePath('aside')
  try {
    writeNote(path, found)
  } catch {
    // If the folder takes no note, only this process tells it.
  }
  return path
}

/** Whether a path is that of such a note. */
export function isAsideNote(path: string): boolean {
  return path.includes('-aside-')
}

/** What a process of this user found. Undefined if the note is not whole, or its folder is gone. */
export function readAsideNote(path: string): string | undefined {
  try {
    const found: unknown = JSON.parse(readOwn(path)?.toString() ?? '')
    return typeof found === 'string' && existsSync(dirname(found)) ? found : undefined
  } catch {
    return undefined
  }
}
