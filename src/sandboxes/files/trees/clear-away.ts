import { isUtf8 } from 'node:buffer'
import { chmodSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { setImmediate as giveWay } from 'node:timers/promises'
import { unfinishedName } from '../../leftovers/unfinished-files.ts'
import type { PathHandle } from '../path-handle.ts'
import { entryIn, openHandle, lookAt, type Entry } from './entry.ts'

type Place = Pick<Entry, 'directory' | 'name' | 'at'>

/**
 * Removes what is left of a copy that was not finished: everything at this name, by descriptors, no links followed. Throws a `RangeError` in the middle
 * of it if that is more than so many entries.
 */
export function clearAway(entry: Place, most = Infinity): void {
  let cleared = 0
  for (const { at, isFolder } of clearEach(entry)) {
    if (++cleared > most) throw tooMany(at)
    if (isFolder) rmdirSync(at)
    else unlinkSync(at)
  }
}

const perTurn = 500

/** The same, while other work of this process goes on: on some disks it takes milliseconds to remove a folder. */
export async function clearAwayGently(entry: Place, most = Infinity): Promise<void> {
  let cleared = 0
  for (const { at, isFolder } of clearEach(entry)) {
    if (++cleared > most) throw tooMany(at)
    if (isFolder) await rmdir(at)
    else unlinkSync(at)
    if (cleared % perTurn === 0) await giveWay()
  }
}

function tooMany(at: string): RangeError {
  return new RangeError(`There is more at "${at}" than may be cleared away.`)
}

/** Names each entry that is to be removed before the next one is asked for; those of a folder come before it. */
function* clearEach(entry: Place): Generator<{ at: string; isFolder: boolean }, void> {
  const stat = lookAt(entry)
  if (stat === undefined) return
  if (!stat.isDirectory()) {
    yield { at: entry.at, isFolder: false }
    return
  }
  {
    using directory = openHandle(entry)
    if (!directory.stat.isDirectory()) return
    // A folder that was copied from one without write permission is closed by now.
    chmodSync(directory.self, 0o700)
    for (const name of readdirSync(directory.self, { encoding: 'buffer' }))
      yield* clearEach(entryIn(directory, toText(directory, name)))
  }
  yield { at: entry.at, isFolder: true }
}

/** The name; something whose name is not text is given one. */
function toText(directory: PathHandle, name: Buffer): string {
  if (isUtf8(name)) return name.toString()
  const text = unfinishedName()
  renameSync(Buffer.concat([Buffer.from(`${directory.self}/`), name]), `${directory.self}/${text}`)
  return text
}
