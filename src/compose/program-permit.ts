import { realpathSync } from 'node:fs'
import { relative } from 'node:path'
import type { PermitChanges } from '../contract/base/effects.ts'
import { ToolFailure } from '../contract/base/errors.ts'
import { fateOf } from '../kit/match/protected-path.ts'
import { isInside } from '../kit/match/is-inside.ts'
import { quoted } from '../kit/text/quoted.ts'
import type { SensitivePaths } from '../policy/sensitive-paths.ts'

/**
 * Decides what lands of what a program of the operator wrote, such as an MCP server: all in its folders but what a person would be asked about, since
 * they are not asked about what belongs to no call.
 */
export function createProgramPermit(writeRoots: readonly string[], sensitive: SensitivePaths): PermitChanges {
  return async (held) => {
    const roots = writeRoots.map(toReal)
    const refused = (await held.effects())
      .map(({ path }) => path)
      .filter((path) => {
        const root = roots.find((each) => isInside(path, each))
        return (
          sensitive.covers(path) || fateOf(root === undefined ? path : relative(root, path)) !== undefined
        )
      })
    return refused.length === 0 ? 'land' : notKept(refused)
  }
}

function toReal(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}

function notKept(paths: readonly string[]): ToolFailure {
  return new ToolFailure({
    reason: 'protected_path',
    message: `${quoted(paths)} is sensitive, or programs of the person obey it, and no person is asked about what a server writes. Make it yourself.`,
    data: { paths: [...paths] },
  })
}
