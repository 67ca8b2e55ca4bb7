import { join } from 'node:path'
import type { Files } from '../../../contract/services/sandbox.ts'
import { fileDigest } from '../../../kit/json/digest.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { worktreeNote } from '../../../kit/match/protected-path.ts'
import { showControls } from '../../../kit/text/show-controls.ts'
import type { UnsavedWork } from './unsaved-work.ts'
import type { Worktree } from './worktree.ts'

/** Work that a call found, for the next one to show to a person before it goes. */
export type WorkNote = Pick<UnsavedWork, 'items' | 'digest'>

/** Lists of work show as many lines; what is more is counted. */
export const maxShown = 50

/** Where it is noted: it goes with the worktree. */
export function notePath({ gitDir }: Worktree): string {
  return join(gitDir, worktreeNote)
}

/** The note of the last call that found work; undefined if there is none, or none that can be read. */
export async function readNote(files: Files, worktree: Worktree): Promise<WorkNote | undefined> {
  const path = notePath(worktree)
  if ((await files.stat(path))?.kind !== 'file') return undefined
  const { bytes } = await files.read(path)
  try {
    const note: unknown = JSON.parse(Buffer.from(bytes).toString())
    if (!isPlainObject(note) || typeof note['digest'] !== 'string' || !Array.isArray(note['items']))
      return undefined
    return { digest: note['digest'], items: note['items'].map(String) }
  } catch {
    // Not as it was written: then no person has seen what would be lost.
    return undefined
  }
}

/** Puts down what was found. */
export async function writeNote(
  files: Files,
  worktree: Worktree,
  { items, digest }: UnsavedWork,
): Promise<void> {
  const path = notePath(worktree)
  const old = (await files.stat(path)) === undefined ? undefined : await files.read(path)
  await files.write(path, Buffer.from(JSON.stringify({ digest, items })), {
    createDirs: false,
    expect: old === undefined ? 'absent' : { digest: fileDigest(old.bytes) },
  })
}

/** Whether a person was shown just this. The list counts too: a process that could write the note must not have shown another one. */
export function isWhatWasShown(found: UnsavedWork, shown: WorkNote | undefined): boolean {
  return shown?.digest === found.digest && JSON.stringify(shown.items) === JSON.stringify(found.items)
}

/** Work as lines of a list, with characters that could hide something made visible. */
export function listWork(items: readonly string[]): string {
  const shown = items.slice(0, maxShown).map((item) => `- ${showControls(item).replaceAll('\n', '␊')}`)
  const more = items.length - shown.length
  return [...shown, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n')
}
