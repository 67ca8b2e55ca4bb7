import { isUtf8 } from 'node:buffer'
import { chmodSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { unfinishedName } from '../../leftovers/unfinished-files.ts'
import type { PathHandle } from '../path-handle.ts'
import { entryIn, openHandle, lookAt, type Entry } from './entry.ts'

/** Removes what is left of a copy that was not finished: everything at this name, by descriptors, no links followed. */
export function clearAway(entry: Pick<Entry, 'directory' | 'name' | 'at'>): void {
  const stat = lookAt(entry)
  if (stat === undefined) return
  if (!stat.isDirectory()) {
    unlinkSync(entry.at)
    return
  }
  {
    using directory = openHandle(entry)
    if (!directory.stat.isDirectory()) return
    // A folder that was copied from one without write permission is closed by now.
    chmodSync(directory.self, 0o700)
    for (const name of readdirSync(directory.self, { encoding: 'buffer' }))
      clearAway(entryIn(directory, toText(directory, name)))
  }
  rmdirSync(entry.at)
}

/** The name; something whose name is not text is given one. */
function toText(directory: PathHandle, name: Buffer): string {
  if (isUtf8(name)) return name.toString()
  const text = unfinishedName()
  renameSync(Buffer.concat([Buffer.from(`${directory.self}/`), name]), `${directory.self}/${text}`)
  return text
}
