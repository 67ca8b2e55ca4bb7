import { chownSync, mkdirSync } from 'node:fs'
import type { EffectHistory } from '../../contract/base/effects.ts'
import { ToolFailure } from '../../contract/base/errors.ts'
import { noteNewFolders } from '../history/new-folders.ts'
import { outsideRoots, systemErrorName, wrongKind } from './file-failure.ts'
import type { PathHandle } from './path-handle.ts'
import { openEntry, openPath } from './open-path.ts'
import type { Place } from './locate.ts'
import { ownerIn } from './owner-in.ts'
import { kindOf } from './to-file-stat.ts'

/**
 * Holds the directory that these names lead to below a place, and makes what is missing if `createDirs` is set: each in the one
 * that is held, with the owner of that. `path` is for messages. The caller disposes of what it returns, and of the place.
 */
export function makeDirectories(
  { held }: Pick<Place, 'held'>,
  names: readonly string[],
  { path, createDirs }: { path: string; createDirs: boolean },
): PathHandle {
  if (!held.stat.isDirectory()) throw wrongKind(path, kindOf(held.stat), 'directory')
  if (names.length > 0 && !createDirs)
    throw new ToolFailure({
      reason: 'file_not_found',
      message: `The directory of "${path}" does not exist. Ask for it to be created.`,
    })
  let directory = openPath(held.self)
  for (const name of names) {
    using parent = directory
    directory = makeDirectory(parent, name, path)
  }
  return directory
}

/** The same, with what is new noted in the history first. */
export async function makeNotedDirectories(
  history: EffectHistory | undefined,
  place: Pick<Place, 'held'>,
  { names, ...how }: { names: readonly string[]; path: string; createDirs: boolean },
): Promise<PathHandle> {
  const { real, stat } = place.held
  const made = how.createDirs && stat.isDirectory() ? names : []
  const noteModes = await noteNewFolders(history, real, made)
  const directory = makeDirectories(place, names, how)
  try {
    await noteModes()
    return directory
  } catch (error) {
    directory[Symbol.dispose]()
    throw error
  }
}

function makeDirectory(parent: PathHandle, name: string, path: string): PathHandle {
  let isNew = true
  try {
    mkdirSync(`${parent.self}/${name}`)
  } catch (error) {
    if (systemErrorName(error) !== 'EEXIST') throw error
    isNew = false
  }
  const made = holdDirectory(parent, name, path)
  const owner = ownerIn(parent.stat)
  if (!isNew || owner === undefined) return made
  using own = made
  chownSync(own.self, owner.uid, owner.gid)
  return holdDirectory(parent, name, path)
}

function holdDirectory(parent: PathHandle, name: string, path: string): PathHandle {
  const held = openEntry(parent, name)
  if (held.stat.isDirectory()) return held
  held[Symbol.dispose]()
  throw outsideRoots(path, 'write')
}
