import { closeSync, constants, fstatSync, openSync, readlinkSync } from 'node:fs'
import type { PathHandle, PathOpener } from './path-handle.ts'

/** Opens a place without opening what is there: no permission needed, no effect on devices and pipes. */
const O_PATH = 0o10000000

/**
 * Holds by descriptor. The kernel itself says where the held thing is, so that no link and no rename between a check and
 * its use can lead elsewhere: what was checked is what is used.
 */
export const linuxPaths: PathOpener = {
  openPath: (path) => heldBy(openSync(path, O_PATH)),
  openEntry: (directory, name) =>
    heldBy(openSync(`${directory.self}/${name}`, O_PATH | constants.O_NOFOLLOW)),
}

function heldBy(descriptor: number): PathHandle {
  const self = `/proc/self/fd/${descriptor}`
  try {
    return {
      real: readlinkSync(self),
      stat: fstatSync(descriptor),
      self,
      open: (flags) => openSync(self, flags),
      [Symbol.dispose]: () => closeSync(descriptor),
    }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}
