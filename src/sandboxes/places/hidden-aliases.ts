import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { fileKey } from '../files/file-key.ts'
import type { HiddenPlaces } from '../visible/hidden-places.ts'
import { walkLarge } from '../visible/walk-small.ts'

/** How many files are looked at before other work has its turn. */
const atOnce = 1_000

/**
 * Finds the names in these places that lead to a hidden file as well, by hard links. Looks for them only if a hidden file has more names
 * than are hidden, and again only when such a file got or lost one.
 */
export function createHiddenAliases() {
  let last: { key: string; found: Promise<string[]> } | undefined
  return async ({ files }: HiddenPlaces, places: readonly string[]): Promise<readonly string[]> => {
    const shared = findShared(files)
    if (shared.size === 0) return []
    const key = JSON.stringify([[...shared.values()].toSorted(), places])
    if (last?.key !== key) last = { key, found: findNames(shared, places) }
    return (await last.found).filter((path) => !files.includes(path))
  }
}

/** What is known of each file that has names which are not among these, by the file. */
function findShared(files: readonly string[]): Map<string, string> {
  const seen = new Map<string, { count: number; nlink: number; state: string }>()
  for (const path of files) {
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat === undefined || !stat.isFile() || stat.nlink < 2) continue
    const count = (seen.get(fileKey(stat))?.count ?? 0) + 1
    seen.set(fileKey(stat), { count, nlink: stat.nlink, state: `${fileKey(stat)} ${stat.ctimeMs} ${count}` })
  }
  return new Map(
    [...seen].filter(([, { count, nlink }]) => count < nlink).map(([file, { state }]) => [file, state]),
  )
}

async function findNames(shared: ReadonlyMap<string, string>, places: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const place of places) {
    const { files } = await walkLarge(place)
    for (const [index, name] of files.entries()) {
      if (index % atOnce === atOnce - 1) await setImmediate()
      const path = join(place, name)
      const stat = statOf(path)
      if (stat !== undefined && stat.nlink > 1 && shared.has(fileKey(stat))) found.push(path)
    }
  }
  return found
}

function statOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}
