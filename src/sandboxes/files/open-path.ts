import { portablePaths } from './open-elsewhere.ts'
import { linuxPaths } from './open-on-linux.ts'

/** How this platform opens files and directories so that what is done next is done to them. */
export const { openPath, openEntry } = process.platform === 'linux' ? linuxPaths : portablePaths
