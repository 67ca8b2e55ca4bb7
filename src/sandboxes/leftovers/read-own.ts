import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'

/** The content of a file that only this process's user reads and writes; undefined for anything else. */
export function readOwn(path: string): Buffer | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    const descriptor = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    try {
      const stat = fstatSync(descriptor)
      const isOwn = stat.isFile() && stat.uid === process.geteuid?.() && (stat.mode & 0o077) === 0
      return isOwn ? readFileSync(descriptor) : undefined
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return undefined
  }
}
