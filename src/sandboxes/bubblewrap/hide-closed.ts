import { lstatSync, type Stats } from 'node:fs'
import { dirname } from 'node:path'
import { isInside } from '../../kit/match/is-inside.ts'
import type { HiddenPlaces } from '../visible/hidden-places.ts'
import type { SandboxUser } from './sandbox-user.ts'
import { mayUse } from './system-places.ts'

/**
 * The same places for a user who may not enter every folder on the way to them: such a folder is hidden as a whole, since nothing can be laid over
 * what lies in it, and its owner could open it.
 */
export function hideClosed(
  { files, folders }: HiddenPlaces,
  user: SandboxUser,
  places: readonly string[],
): HiddenPlaces {
  if (!user.other) return { files, folders }
  const known = new Map<string, Stats | undefined>()
  const mayEnter = (folder: string) => {
    if (!known.has(folder)) known.set(folder, lstatSync(folder, { throwIfNoEntry: false }))
    const stat = known.get(folder)
    return stat === undefined || mayUse(stat, user, 1)
  }
  const closed = [...files, ...folders].map((path) => outermostClosed(path, places, mayEnter))
  const whole = [...new Set(closed.filter((folder) => folder !== undefined))]
  return {
    files: files.filter((_, index) => closed[index] === undefined),
    folders: [...folders.filter((_, index) => closed[files.length + index] === undefined), ...whole],
  }
}

/** The outermost folder above a path, inside of its place, that may not be entered. */
function outermostClosed(
  path: string,
  places: readonly string[],
  mayEnter: (folder: string) => boolean,
): string | undefined {
  const place = places.find((each) => isInside(path, each))
  if (place === undefined) return undefined
  let closed: string | undefined
  for (let folder = dirname(path); folder.length > place.length; folder = dirname(folder))
    if (!mayEnter(folder)) closed = folder
  return closed
}
