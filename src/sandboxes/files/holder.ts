import { portableHolder } from './hold-elsewhere.ts'
import { linuxHolder } from './hold-on-linux.ts'
import type { Holder } from './held.ts'

/** How this platform holds files and directories. */
export const holder: Holder = process.platform === 'linux' ? linuxHolder : portableHolder
