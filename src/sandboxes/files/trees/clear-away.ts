import { chmodSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs'
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
    for (const name of readdirSync(directory.self)) clearAway(entryIn(directory, name))
  }
  rmdirSync(entry.at)
}
