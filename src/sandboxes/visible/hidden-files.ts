import { lstatSync } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileKey, type PathsByFile } from '../files/file-key.ts'
import type { HiddenLook } from './hidden-look.ts'
import type { HiddenPlaces, HiddenRequest } from './hidden-places.ts'

/** More than this in one hidden folder is not looked through. */
const maxEntries = 100_000

/**
 * Finds the hidden files that have several names, those in hidden folders too; at most a second old. One that has a single name has no
 * other that could lead to it.
 */
export function createHiddenFiles(look: HiddenLook) {
  const known = new WeakMap<HiddenPlaces, Promise<PathsByFile>>()
  return async (request: Pick<HiddenRequest, 'globs' | 'places' | 'signals'>): Promise<PathsByFile> => {
    const places = await look(request)
    let found = known.get(places)
    if (found === undefined) known.set(places, (found = findFiles(places)))
    return found
  }
}

async function findFiles({ files, folders }: HiddenPlaces): Promise<PathsByFile> {
  const found = new Map<string, string[]>()
  const take = (path: string) => {
    const stat = lookAt(path)
    if (stat === undefined || !stat.isFile() || stat.nlink < 2) return
    const paths = found.get(fileKey(stat))
    if (paths === undefined) found.set(fileKey(stat), [path])
    else paths.push(path)
  }
  files.forEach(take)
  for (const folder of folders) for await (const path of filesBelow(folder)) take(path)
  return found
}

/** Undefined for what is gone, or what this process may not look at: no program can then read that through it. */
function lookAt(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

async function* filesBelow(top: string): AsyncGenerator<string> {
  const folders = [top]
  let entries = 0
  for (const folder of folders) {
    for (const entry of await entriesOf(folder)) {
      if (++entries > maxEntries) return
      const path = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(path)
      else if (entry.isFile()) yield path
    }
  }
}

async function entriesOf(folder: string) {
  const entries = []
  try {
    for await (const entry of await opendir(folder)) if (entries.push(entry) > maxEntries) break
  } catch (error) {
    // What cannot be listed by this process, or is gone, reveals nothing through it.
    if (!(error instanceof Error && 'code' in error)) throw error
  }
  return entries
}
