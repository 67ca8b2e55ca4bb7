import { randomUUID } from 'node:crypto'
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export interface WholeFile {
  text: string
  /** The permission bits that the file has, whatever the umask. */
  mode: number
  /** Moves the finished file to its name. Default: renames it, in place of what was there. */
  put?: (from: string, to: string) => void
}

/**
 * Writes a file as a whole or not at all: a reader finds all of it or what was there before, after a full disk or a power failure too.
 * Throws as the file system does.
 */
export function writeWhole(path: string, { text, mode, put = renameSync }: WholeFile): void {
  const draft = `${path}.${randomUUID()}.new`
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      fchmodSync(file, mode)
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    put(draft, path)
  } finally {
    rmSync(draft, { force: true })
  }
  syncFolder(dirname(path))
}

/** Makes the new name last. Some systems have no way to do that for a folder. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
