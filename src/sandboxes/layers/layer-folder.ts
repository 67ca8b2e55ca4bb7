import { basename, dirname } from 'node:path'
import { openPath } from '../files/open-path.ts'
import { clearAway, clearAwayGently } from '../files/trees/clear-away.ts'
import { entryIn } from '../files/trees/entry.ts'
import { makeTemporaryFolder } from '../leftovers/temporary-folder.ts'

/** A folder with more entries is not removed by this process, which stands still meanwhile. */
const mostEntries = 100

/** Folders that are not removed yet. */
const folders = new Set<string>()
let isWatching = false

/** Makes a folder for a layer. When this process ends by itself, a small folder that is still there is removed. */
export function makeLayerFolder(): string {
  if (!isWatching) process.once('exit', () => [...folders].forEach(removeAtExit))
  isWatching = true
  const folder = makeTemporaryFolder()
  folders.add(folder)
  return folder
}

/** Removes a folder that `makeLayerFolder` made. False if the folder holds too many entries, or one that this process cannot remove. */
export async function removeSmallFolder(folder: string): Promise<boolean> {
  folders.delete(folder)
  try {
    using above = openPath(dirname(folder))
    await clearAwayGently(entryIn(above, basename(folder)), mostEntries)
    return true
  } catch {
    return false
  }
}

/** The same as far as it can be done at once. */
function removeAtExit(folder: string): void {
  try {
    using above = openPath(dirname(folder))
    clearAway(entryIn(above, basename(folder)), mostEntries)
  } catch {
    // The next start of Handrail removes what is left.
  }
}
