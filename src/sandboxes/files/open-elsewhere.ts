import { closeSync, constants, fstatSync, lstatSync, openSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import type { PathHandle, PathOpener } from './path-handle.ts'

/** macOS refuses to open a path with any link in it; elsewhere only the last name is looked at. */
const noLinks = process.platform === 'darwin' ? 0x20000000 : constants.O_NOFOLLOW

/**
 * Holds by name, for systems without `/proc/self/fd`. It resolves links first and, when it opens the file, makes sure that
 * it got the one it looked at. It does not promise that no other process can swap a directory between the check and the use;
 * where that matters, run Handrail on Linux or in a backend with isolation of its own.
 */
export const portablePaths: PathOpener = {
  openPath: (path) => heldAt(realpathSync.native(path)),
  openEntry: (directory, name) => heldAt(join(directory.self, name)),
}

function heldAt(real: string): PathHandle {
  const stat = lstatSync(real)
  return {
    real,
    stat,
    self: real,
    open(flags) {
      const descriptor = openSync(real, flags | noLinks)
      const opened = fstatSync(descriptor)
      if (opened.dev === stat.dev && opened.ino === stat.ino) return descriptor
      closeSync(descriptor)
      throw Object.assign(new Error(`ESTALE: the file changed while it was opened, open '${real}'`), {
        code: 'ESTALE',
      })
    },
    [Symbol.dispose]: () => {},
  }
}
