import { lstatSync, type BigIntStats } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Change } from './change.ts'

/** What tells a folder from any other that takes its place. */
export function identityOf(root: string): string {
  const { dev, ino } = lstatSync(root, { bigint: true })
  return `${dev} ${ino}`
}

/** What tells each folder with changes below it from any other that takes its place, by its path. */
export function identifyFolders(changes: readonly Change[]): ReadonlyMap<string, string> {
  const identities = new Map<string, string>()
  for (const at of foldersAbove(changes)) {
    const stat = lstatSync(at, { bigint: true, throwIfNoEntry: false })
    if (stat !== undefined) identities.set(at, `${stat.dev} ${stat.ino}`)
  }
  return identities
}

/**
 * Finds a folder with changes below it in whose place another one stands since the command began, so that what the command saw was not in it. A root
 * is known by its identity, and since the changes were read, so is each folder. Before that, a folder below was moved or got another mode if it changed
 * and nothing was put into it then: `ctime` says so alone.
 */
export function findSwapped(
  changes: readonly Change[],
  {
    since,
    identities,
    folders,
  }: {
    since: bigint
    identities: ReadonlyMap<string, string>
    folders: ReadonlyMap<string, string>
  },
): string | undefined {
  const other = [...new Set(changes.map(({ root }) => root))].find(
    (root) => identities.get(root) !== identityOf(root),
  )
  if (other !== undefined) return other
  return foldersAbove(changes).find((at) => {
    const stat = lstatSync(at, { bigint: true, throwIfNoEntry: false })
    if (stat === undefined) return folders.has(at)
    const known = folders.get(at)
    return wasMoved(stat, since) || (known !== undefined && known !== `${stat.dev} ${stat.ino}`)
  })
}

/** The folders below the roots in which there are changes, but for those that the command made. */
function foldersAbove(changes: readonly Change[]): string[] {
  const made = new Set(changes.filter(({ had }) => had === 'none').map(({ root, path }) => join(root, path)))
  const found = new Set<string>()
  const looked = new Set<string>()
  for (const { root, path, kind, had } of changes) {
    const first = kind === 'directory' && had === 'directory' ? path : dirname(path)
    for (let folder = first; folder !== '.'; folder = dirname(folder)) {
      const at = join(root, folder)
      if (looked.has(at)) break
      looked.add(at)
      if (!made.has(at)) found.add(at)
    }
  }
  return [...found]
}

function wasMoved({ ctimeNs, mtimeNs }: BigIntStats, since: bigint): boolean {
  return ctimeNs > since && mtimeNs < ctimeNs
}
