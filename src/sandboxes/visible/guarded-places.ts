import { lstatSync, readdirSync, readlinkSync, type Stats } from 'node:fs'
import { join, relative } from 'node:path'
import { isInside } from '../../kit/match/is-inside.ts'
import { protectedInside } from '../../kit/match/protected-names.ts'
import { isProtected, protectedNames } from '../../kit/match/protected-path.ts'
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
  readonly present: Present
  /** What tells each place in `pinned` and `readOnly` from any other that takes its place. */
  readonly identities: ReadonlyMap<string, string>
}

/** What is there of each root, by its path, and was not made by a command that runs. */
export type Present = ReadonlyMap<string, PresentNames>

/** Protected names of a folder. Each has what it leads to if it is a link, else an empty text. */
export type Names = ReadonlyMap<string, string>

/** Protected names that are there. */
export interface PresentNames {
  readonly names: Names
  /** Those in each folder of a version control. */
  readonly inside: ReadonlyMap<string, Names>
}

/**
 * Looks at the protected names of these roots. What is a link is not laid: laid over, it would hide another place. What is there and was not
 * there before one of the commands that run was made by that one, and stays no longer than it: `running` is what was there before each.
 */
export function findGuardedPlaces(
  writeRoots: readonly string[],
  running: readonly Present[] = [],
): GuardedPlaces {
  const pinned: string[] = []
  const readOnly: string[] = []
  const absent: string[] = []
  const present = new Map<string, PresentNames>()
  const identities = new Map<string, string>()
  const lay = (places: string[], path: string, stat: Stats) => {
    places.push(path)
    identities.set(path, identityOf(stat))
  }
  const protect = (path: string, stat: Stats | undefined) => {
    if (stat === undefined) absent.push(path)
    else if (!stat.isSymbolicLink()) lay(readOnly, path, stat)
  }
  for (const root of writeRoots) {
    const before = running.flatMap((each) => each.get(root) ?? [])
    const there = new Set(namesIn(root).filter((name) => isProtected(name)))
    const inside = new Map<string, Names>()
    for (const name of new Set([...protectedNames, ...there])) {
      if (Object.hasOwn(protectedInside, name)) continue
      protect(join(root, name), there.has(name) ? look(join(root, name)) : undefined)
    }
    for (const [name, names] of Object.entries(protectedInside)) {
      const folder = join(root, name)
      const stat = look(folder)
      if (stat?.isDirectory() !== true) protect(folder, stat)
      else {
        lay(pinned, folder, stat)
        for (const each of names) protect(join(folder, each), look(join(folder, each)))
        const known = before.flatMap((each) => each.inside.get(name) ?? [])
        inside.set(name, withTargets(folder, names, known))
      }
    }
    const known = before.map(({ names }) => names)
    present.set(root, { names: withTargets(root, [...there], known), inside })
  }
  return { pinned, readOnly, absent, present, identities }
}

/** Those of the guarded places in which something else stands by now, as seen from their roots. */
export function findReplaced(guarded: GuardedPlaces): string[] {
  return [...guarded.identities].flatMap(([path, identity]) => {
    try {
      return identityOf(lstatSync(path)) === identity ? [] : [nameIn(guarded, path)]
    } catch {
      // Gone, or in a folder that the command closed: the next one says that it cannot be looked into.
      return []
    }
  })
}

/** A guarded place as seen from its root. */
export function nameIn({ present }: Pick<GuardedPlaces, 'present'>, path: string): string {
  return relative([...present.keys()].find((root) => isInside(path, root)) ?? '/', path)
}

/** What a link leads to; empty for what is not a link, undefined if nothing is there. */
export function targetOf(path: string): string | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  return stat?.isSymbolicLink() === true ? readlinkSync(path) : stat && ''
}

/** The names that are there, and were there before all of these. */
function withTargets(folder: string, names: readonly string[], known: readonly Names[]): Names {
  return new Map(
    names.flatMap((name): [string, string][] => {
      const target = known.every((each) => each.has(name)) ? targetOf(join(folder, name)) : undefined
      return target === undefined ? [] : [[name, target]]
    }),
  )
}

/** A number of a file may be given to another one once the file is gone, never its time of birth with it. */
function identityOf({ dev, ino, birthtimeMs }: Stats): string {
  return `${dev} ${ino} ${birthtimeMs}`
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
