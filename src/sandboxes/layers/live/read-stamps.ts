import type { BigIntStats } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { systemErrorName } from '../../files/file-failure.ts'
import { openPath } from '../../files/open-path.ts'
import { lookAt } from '../landing/expected.ts'
import { holdFolders } from '../landing/folders.ts'
import { walkBelow } from '../landing/walk-below.ts'

/** What tells what lies in a layer from all that lay there before, by absolute paths below the roots. */
export type Stamps = ReadonlyMap<string, string>

/** Reads the stamps of all that a layer holds. The program may run meanwhile: no link is followed, and nothing is opened but folders. */
export async function readStamps(uppers: ReadonlyMap<string, string>): Promise<Stamps> {
  const stamps = new Map<string, string>()
  for (const [root, upper] of uppers) {
    using top = openPath(upper)
    await walkBelow(top, ({ path, stat }) => void stamps.set(join(root, path), toStamp(stat)), {
      skipsGone: true,
    })
  }
  return stamps
}

/** Reads the stamp of one path; undefined if the layer does not have it. */
export function readStamp(upper: string, path: string): string | undefined {
  using folders = holdFolders(openPath(upper))
  try {
    const stat = lookAt(join(folders.at(dirname(path)).self, basename(path)))
    return stat && toStamp(stat)
  } catch (error) {
    const name = systemErrorName(error)
    if (name === 'ENOENT' || name === 'ENOTDIR') return undefined
    throw error
  }
}

/** Of a folder, what is in it does not count. What notes that something is gone is one file for all of them. */
function toStamp(stat: BigIntStats): string {
  if (stat.isDirectory()) return `folder ${stat.mode}`
  if (stat.isCharacterDevice()) return 'gone'
  return `${stat.ino} ${stat.ctimeNs}`
}
