import { isUtf8 } from 'node:buffer'
import { chmodSync, readdirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs'
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
  for (const at of clearEach(entry))
    if (++cleared > most) throw new RangeError(`There is more at "${at}" than may be cleared away.`)
}

const perTurn = 500

/** The same, while other work of this process goes on. */
export async function clearAwayGently(entry: Place): Promise<void> {
  let cleared = 0
  for (const _at of clearEach(entry)) if (++cleared % perTurn === 0) await giveWay()
}

/** Names each entry before it goes; those of a folder go before it. */
function* clearEach(entry: Place): Generator<string, void> {
  const stat = lookAt(entry)
  if (stat === undefined) return
  yield entry.at
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
      yield* clearEach(entryIn(directory, toText(directory, name)))
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
