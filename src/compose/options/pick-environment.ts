import { delimiter, isAbsolute } from 'node:path'
import { isInside } from '../../kit/match/is-inside.ts'
import { realPlace } from './resolve-places.ts'

const alwaysPassed = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL'] as const

/**
 * The environment that commands see: these variables and a few that always pass. PATH without the folders that tools may write,
 * so that the bare name of a program is never one that a call could have put there.
 */
export function pickEnvironment(
  names: readonly string[],
  writeRoots: readonly string[],
): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const name of [...alwaysPassed, ...names]) {
    const value = process.env[name]
    if (value !== undefined) picked[name] = value
  }
  const path = picked['PATH']
  if (path !== undefined) {
    picked['PATH'] = path
      .split(delimiter)
      .filter((folder) => isAbsolute(folder) && !isWritable(folder, writeRoots))
      .join(delimiter)
  }
  return picked
}

function isWritable(folder: string, writeRoots: readonly string[]): boolean {
  const real = realPlace(folder)
  return writeRoots.some((root) => isInside(folder, root) || isInside(real, root))
}
