import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { protectedInside } from '../../kit/protected-names.ts'
import { isProtected, protectedNames } from '../../kit/protected-path.ts'
import { closedPlace } from './closed-place.ts'

/** What of the writable roots other programs run or obey, as it is before a command. */
export interface GuardedPlaces {
  /** Folders that must keep their place: laid over itself, a folder cannot be renamed, so that no other one takes its place. */
  readonly pinned: readonly string[]
  /** What is there and must stay as it is. */
  readonly readOnly: readonly string[]
  /** What is not there, and must not be afterwards. */
  readonly absent: readonly string[]
  /** What is there of each root, by its path. */
  readonly present: ReadonlyMap<string, PresentNames>
}

/** Protected names that are there. */
export interface PresentNames {
  readonly names: ReadonlySet<string>
  /** Those in each folder of a version control. */
  readonly inside: ReadonlyMap<string, ReadonlySet<string>>
}

/** Looks at the protected names of these roots. What is a link is left alone: laid over, it would hide another place. */
export function findGuardedPlaces(writeRoots: readonly string[]): GuardedPlaces {
  const pinned: string[] = []
  const readOnly: string[] = []
  const absent: string[] = []
  const present = new Map<string, PresentNames>()
  const protect = (path: string, stat: Stats | undefined) => {
    if (stat === undefined) absent.push(path)
    else if (!stat.isSymbolicLink()) readOnly.push(path)
  }
  const guardInside = (folder: string, names: readonly string[]) =>
    names.filter((name) => {
      const stat = look(join(folder, name))
      protect(join(folder, name), stat)
      return stat !== undefined
    })
  for (const root of writeRoots) {
    const there = new Set(namesIn(root).filter((name) => isProtected(name)))
    const inside = new Map<string, ReadonlySet<string>>()
    present.set(root, { names: there, inside })
    for (const name of new Set([...protectedNames, ...there])) {
      if (Object.hasOwn(protectedInside, name)) continue
      protect(join(root, name), there.has(name) ? look(join(root, name)) : undefined)
    }
    for (const [name, names] of Object.entries(protectedInside)) {
      const folder = join(root, name)
      const stat = look(folder)
      if (stat?.isDirectory() !== true) protect(folder, stat)
      else {
        pinned.push(folder)
        inside.set(name, new Set(guardInside(folder, names)))
      }
    }
  }
  return { pinned, readOnly, absent, present }
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    throw closedPlace(error, path)
  }
}

function namesIn(root: string): string[] {
  try {
    return readdirSync(root)
  } catch (error) {
    // Not there, or no folder: a command makes nothing in it.
    if (error instanceof Error && 'code' in error && error.code !== 'EACCES') return []
    throw closedPlace(error, root)
  }
}
