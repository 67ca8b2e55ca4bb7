import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * All files below a folder, relative to it, without following links; undefined where it has more entries than that, so that a search by
 * another program is quicker. What may not be entered is left out.
 */
export function walkSmall(folder: string, maxEntries: number): string[] | undefined {
  const files: string[] = []
  const waiting = ['']
  let seen = 0
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const entries = entriesOf(join(folder, at))
    seen += entries.length
    if (seen > maxEntries) return undefined
    for (const entry of entries) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`
      if (entry.isDirectory()) waiting.push(path)
      else if (!entry.isSymbolicLink()) files.push(path)
    }
  }
  return files
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    // Gone meanwhile, or not to be entered, by the command's user neither.
    return []
  }
}
