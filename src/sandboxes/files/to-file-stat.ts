import type { Stats } from 'node:fs'
import type { FileStat } from '../../contract/services/sandbox.ts'

/** What the port says of a file, from what `node:fs` says. Set-id bits are left out. */
export function toFileStat(stat: Stats): FileStat {
  return {
    kind: kindOf(stat),
    size: stat.size,
    mtimeMs: stat.mtimeMs,
    ctimeMs: stat.ctimeMs,
    mode: stat.mode & 0o777,
    dev: stat.dev,
    ino: stat.ino,
  }
}

/** Which kind of thing this is. */
export function kindOf(stat: Stats): FileStat['kind'] {
  if (stat.isFile()) return 'file'
  if (stat.isDirectory()) return 'directory'
  return stat.isSymbolicLink() ? 'link' : 'other'
}
