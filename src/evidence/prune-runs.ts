import { readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isPlainObject } from '../kit/json/is-plain-object.ts'

export interface PruneRunsRequest {
  /** Holds `runs/`. */
  dir: string
  /** Runs go whose files were all written before, in milliseconds since the epoch. */
  before: number
  /** Default: all. */
  tenant?: string
}

/** Removes the folders of old runs. Returns how many there were. */
export async function pruneRuns({ dir, before, tenant }: PruneRunsRequest): Promise<number> {
  const root = join(dir, 'runs')
  let pruned = 0
  for (const entry of await readFolder(root)) {
    const folder = join(root, entry.name)
    if (entry.name.startsWith(going)) {
      await rm(folder, { recursive: true, force: true })
      continue
    }
    if (!entry.isDirectory() || (await isWritten(folder, before))) continue
    if (tenant !== undefined && (await readTenant(folder)) !== tenant) continue
    await remove(folder)
    pruned += 1
  }
  return pruned
}

/** What a killed prune leaves begins with this. */
const going = '.pruned-'

/** Takes the name away first, so that no reader finds half a folder. */
async function remove(folder: string): Promise<void> {
  const gone = join(dirname(folder), `${going}${basename(folder)}`)
  await rm(gone, { recursive: true, force: true })
  await rename(folder, gone)
  await rm(gone, { recursive: true, force: true })
}

/** Whether any file in it was written since then. One without files may have been made just now. */
async function isWritten(folder: string, since: number): Promise<boolean> {
  const files = (await readFolder(folder, true)).filter((entry) => !entry.isDirectory())
  if (files.length === 0) return (await writtenAt(folder)) >= since
  for (const entry of files) if ((await writtenAt(join(entry.parentPath, entry.name))) >= since) return true
  return false
}

/** A link that leads nowhere is as old as can be. */
async function writtenAt(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  )
}

async function readFolder(path: string, recursive = false) {
  try {
    return await readdir(path, { withFileTypes: true, recursive })
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  }
}

/** Undefined for a folder that does not say whose it is. */
async function readTenant(folder: string): Promise<unknown> {
  try {
    const about: unknown = JSON.parse(await readFile(join(folder, 'run.json'), 'utf8'))
    return isPlainObject(about) ? about['tenant'] : undefined
  } catch {
    return undefined
  }
}
