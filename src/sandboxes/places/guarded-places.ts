import { closeSync, constants, lstatSync, openSync, readdirSync, renameSync, type Stats } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { isProtected, protectedInGit, protectedNames } from '../../kit/protected-path.ts'

/** What of the writable roots other programs run or obey, as it is before a command. */
export interface GuardedPlaces {
  /** Folders that must keep their place: laid over itself, a folder cannot be renamed, so that no other one takes its place. */
  readonly pinned: readonly string[]
  /** What is there and must stay as it is. */
  readonly readOnly: readonly string[]
  /** What is not there, and must not be afterwards. */
  readonly absent: readonly string[]
  /** The names in each root, by its path. */
  readonly entries: ReadonlyMap<string, ReadonlySet<string>>
}

/** Looks at the protected names of these roots. What is a link is left alone: laid over, it would hide another place. */
export function findGuardedPlaces(writeRoots: readonly string[]): GuardedPlaces {
  const pinned: string[] = []
  const readOnly: string[] = []
  const absent: string[] = []
  const entries = new Map<string, ReadonlySet<string>>()
  const look = (path: string): Stats | undefined => {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined) absent.push(path)
    return stat
  }
  const protect = (path: string) => {
    const stat = look(path)
    if (stat !== undefined && !stat.isSymbolicLink()) readOnly.push(path)
  }
  for (const root of writeRoots) {
    entries.set(root, new Set(namesIn(root)))
    for (const name of protectedNames) protect(join(root, name))
    const git = join(root, '.git')
    const stat = look(git)
    if (stat?.isDirectory() === true) {
      pinned.push(git)
      for (const name of protectedInGit) protect(join(git, name))
    } else if (stat?.isFile() === true) readOnly.push(git)
  }
  return { pinned, readOnly, absent, entries }
}

function namesIn(root: string): string[] {
  try {
    return readdirSync(root)
  } catch {
    // Not there, or no folder: a command makes nothing in it.
    return []
  }
}

/**
 * Renames what a command made where nothing may be, and what it made in a root under another spelling of a protected name: beside its
 * place, under a name that no program looks for, so that nothing is lost. Gives the places.
 */
export function setAside({ absent, entries }: Pick<GuardedPlaces, 'absent' | 'entries'>): string[] {
  const spelled = [...entries].flatMap(([root, before]) =>
    namesIn(root)
      .filter((name) => !before.has(name) && isProtected(name))
      .map((name) => join(root, name)),
  )
  return [...new Set([...absent, ...spelled])].filter((path) => rename(path))
}

/** Whether there was anything to rename. */
function rename(path: string): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return false
  const aside = `.blocked-${randomBytes(4).toString('hex')}`
  if (process.platform !== 'linux') {
    renameSync(path, `${path}${aside}`)
    return true
  }
  // Through its folder held open, so that no link in the place of that one leads the rename elsewhere.
  const folder = openSync(dirname(path), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    const held = `/proc/self/fd/${folder}/${basename(path)}`
    renameSync(held, `${held}${aside}`)
    return true
  } finally {
    closeSync(folder)
  }
}
