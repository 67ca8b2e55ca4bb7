import { closeSync, constants, fsync as fsyncCallback } from 'node:fs'
import { promisify } from 'node:util'
import { systemErrorName } from './file-failure.ts'
import type { PathHandle } from './path-handle.ts'

const fsync = promisify(fsyncCallback)

/** Resolves when the names in a directory are on the disk, where the system can say so. */
export async function syncDirectory(directory: PathHandle): Promise<void> {
  if (process.platform === 'win32') return
  const descriptor = directory.open(constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await fsync(descriptor)
  } catch (error) {
    // Some file systems cannot sync a directory.
    if (!['EINVAL', 'ENOTSUP', 'EBADF'].includes(systemErrorName(error) ?? '')) throw error
  } finally {
    closeSync(descriptor)
  }
}
