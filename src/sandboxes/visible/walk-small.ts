import { readdirSync } from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'

/** What lies below a folder, relative to it. */
export interface Walked {
  readonly files: readonly string[]
  /** Folders that this process may not look into. */
  readonly closed: readonly string[]
}

/**
 * All files below a folder, without following links; undefined if it has more entries than that, so that a search by
 * another program is quicker.
 */
export function walkSmall(folder: string, maxEntries: number): Walked | undefined {
  const files: string[] = []
  const closed: string[] = []
  const waiting = ['']
  let seen = 0
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const entries = entriesOf(join(folder, at))
    if (entries === undefined) closed.push(at)
    else {
      seen += entries.length
      if (seen > maxEntries) return undefined
      for (const entry of entries) {
        const path = at === '' ? entry.name : `${at}/${entry.name}`
        if (entry.isDirectory()) waiting.push(path)
        else if (!entry.isSymbolicLink()) files.push(path)
      }
    }
  }
  return { files, closed }
}

/** The same, however many there are. */
export async function walkLarge(folder: string): Promise<Walked> {
  const files: string[] = []
  const closed: string[] = []
  const waiting = ['']
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    try {
      for await (const entry of await opendir(join(folder, at))) {
        const path = at === '' ? entry.name : `${at}/${entry.name}`
        if (entry.isDirectory()) waiting.push(path)
        else if (!entry.isSymbolicLink()) files.push(path)
      }
    } catch (error) {
      if (isDenied(error)) closed.push(at)
    }
  }
  return { files, closed }
}

/** Undefined if this process may not look; none if it is gone. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    return isDenied(error) ? undefined : []
  }
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM')
}
