import { mkdir, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Makes a folder for its owner only, with those above it, durably. */
export async function makeFolder(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o700 })
  if (made === undefined) return
  // Each new name is durable only after the folder that it stands in is synced.
  for (let at = path; at.length >= made.length; at = dirname(at)) await syncFolder(dirname(at))
}

/** Resolves when the names in a folder are on the disk. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The size of a file; undefined if it is not there. */
export async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  )
}
