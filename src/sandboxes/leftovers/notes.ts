import { randomBytes } from 'node:crypto'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { ownMark, processMark } from './process-mark.ts'

const folders: Partial<Record<NodeJS.Platform, string>> = {
  linux: '/dev/shm',
  darwin: '/private/var/tmp',
  win32: tmpdir(),
}

/**
 * Where a process notes what the next one does for it should it be killed. What stands there is obeyed, so that it is not a folder that a
 * variable names: a project may lie around that one. No command of a sandbox sees the shared memory of the machine, whatever its roots are.
 */
export const notesFolder = folders[process.platform] ?? '/var/tmp'

const noteName = new RegExp(`^handrail-(?:note|landing)-(${processMark.source})-`)

/** Whether a path with links resolved is one that the next process may obey. */
export function isNote(real: string): boolean {
  return markOfNote(real) !== undefined
}

/** The mark of the process that wrote it; undefined for what is not a note. */
export function markOfNote(real: string): string | undefined {
  return dirname(real) === notesFolder ? noteName.exec(basename(real))?.[1] : undefined
}

/** A path for a note of this process; the kind tells notes apart. */
export function notePath(kind: string): string {
  return join(notesFolder, `handrail-note-${ownMark()}-${kind}-${randomBytes(4).toString('hex')}`)
}

/** The same for a note that only what takes it back may remove. A Handrail that does not know such notes leaves it alone. */
export function lastingNotePath(kind: string): string {
  return notePath(kind).replace('/handrail-note-', '/handrail-landing-')
}

/** Writes a note that only this process's user reads. Fails if the folder takes none. */
export function writeNote(path: string, content: unknown): void {
  const descriptor = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(descriptor, JSON.stringify(content))
  } finally {
    closeSync(descriptor)
  }
}
