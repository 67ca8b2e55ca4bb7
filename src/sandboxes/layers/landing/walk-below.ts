import { isUtf8 } from 'node:buffer'
import { lstatSync, readdirSync, type BigIntStats } from 'node:fs'
import { join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { PathHandle } from '../../files/path-handle.ts'
import { holdIn } from './folders.ts'
import { createTurns } from './turns.ts'

/** Something in a folder, which is held open as long as it is looked at. */
export interface Found {
  /** Relative to where the walk began. */
  readonly path: string
  /** For calls of `node:fs`. */
  readonly at: string
  readonly stat: BigIntStats
}

/** What is walked through at most. */
export const maxEntries = 250_000

/**
 * Shows all that is in a folder, each folder before what is in it. No link is followed. Fails with `file_limit` for more than `maxEntries`. If something is
 * removed meanwhile, it fails with the error of the system, or leaves that out if it `skipsGone`.
 */
export async function walkBelow(
  top: PathHandle,
  visit: (found: Found) => Promise<void> | void,
  { skipsGone = false } = {},
): Promise<void> {
  const turns = createTurns()
  let count = 0
  const walk = async (folder: PathHandle, path: string): Promise<void> => {
    for (const name of namesIn(folder)) {
      if (++count > maxEntries) throw tooMany(top.real)
      await turns()
      const at = `${folder.self}/${name}`
      const stat = lstatSync(at, { bigint: true, throwIfNoEntry: !skipsGone })
      if (stat === undefined) continue
      const below = join(path, name)
      await visit({ path: below, at, stat })
      if (!stat.isDirectory()) continue
      using inner = holdIn(folder, name)
      await walk(inner, below)
    }
  }
  await walk(top, '')
}

function namesIn(folder: PathHandle): string[] {
  return readdirSync(folder.self, { encoding: 'buffer' }).map((name) => {
    if (isUtf8(name)) return name.toString()
    throw new ToolFailure({
      code: 'SANDBOX.CAPABILITY_BLOCKED',
      reason: 'file_limit',
      message: `"${folder.real}" has names that are not UTF-8, so it stays as it is. Nothing was changed.`,
    })
  })
}

function tooMany(path: string): ToolFailure {
  return new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'file_limit',
    message: `"${path}" holds more than ${maxEntries} files and folders. Nothing was changed. Change less at a time.`,
  })
}
