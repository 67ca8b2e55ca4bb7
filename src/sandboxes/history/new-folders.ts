import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { EffectHistory, PathEffect } from '../../contract/base/effects.ts'

/** Notes the folders that are about to be made below one, each in the one before. Returns what notes the modes that they got, if those are others. */
export async function noteNewFolders(
  history: EffectHistory | undefined,
  above: string,
  names: readonly string[],
): Promise<() => Promise<void>> {
  if (history === undefined || names.length === 0) return async () => {}
  const paths = names.map((_, index) => join(above, ...names.slice(0, index + 1)))
  const usual = 0o777 & ~process.umask()
  await history.record(paths.map((path) => madeFolder(path, usual)))
  return async () => {
    const other = paths.map((path) => madeFolder(path, lstatSync(path).mode & 0o777))
    // An access control list of the folder above may decide.
    await history.record(other.filter(({ after }) => after.kind === 'directory' && after.mode !== usual))
  }
}

function madeFolder(path: string, mode: number): PathEffect {
  return { path, before: { kind: 'none' }, after: { kind: 'directory', mode } }
}
