import { accessSync, constants, type Stats } from 'node:fs'
import { basename, dirname } from 'node:path'
import { outsideRoots, pathConflict, stalePreview, wrongKind } from './file-failure.ts'
import type { PathHandle } from './path-handle.ts'
import { openPath } from './open-path.ts'
import { locate, type Place } from './locate.ts'
import { makeNotedDirectories } from './make-directories.ts'
import type { FileChange } from './put-in-place.ts'
import type { Reach } from './reach.ts'
import { refuseProtected } from './refuse-protected.ts'
import { kindOf } from './to-file-stat.ts'

/** Where a file is to be written: its directory held open, its name in it, and what is there now. */
export interface Target extends Disposable {
  readonly directory: PathHandle
  readonly name: string
  /** Undefined for a new file. */
  readonly old: Stats | undefined
}

/**
 * Finds where to write inside the writable roots, and makes missing directories where `createDirs` says so. A link to a file
 * inside is followed: the file is written, the link stays. Fails early where `expect` cannot be met.
 */
export async function findTarget(reach: Reach, path: string, change: FileChange): Promise<Target> {
  using place = locate(reach, path, 'write')
  refuseProtected(reach, place, path)
  if (place.missing.length > 0) return await newTarget(place, path, { change, reach })
  const { real, self, stat } = place.held
  if (!stat.isFile()) throw wrongKind(path, kindOf(stat), 'file')
  if (change.expect === 'absent') throw pathConflict(path)
  // Renaming over a file needs no right to write to it, yet a read-only file is meant to stay.
  accessSync(self, constants.W_OK)
  const directory = openPath(dirname(real))
  if (reach.write.contain(directory.real)) return target(directory, basename(real), stat)
  directory[Symbol.dispose]()
  throw outsideRoots(path, 'write')
}

async function newTarget(
  place: Place,
  path: string,
  { change, reach }: { change: FileChange; reach: Reach },
): Promise<Target> {
  if (change.expect !== 'absent') throw stalePreview(path)
  const names = place.missing.slice(0, -1)
  const { createDirs } = change
  const directory = await makeNotedDirectories(reach.history, place, { names, path, createDirs })
  return target(directory, place.missing.at(-1) ?? '', undefined)
}

function target(directory: PathHandle, name: string, old: Stats | undefined): Target {
  return { directory, name, old, [Symbol.dispose]: () => directory[Symbol.dispose]() }
}
