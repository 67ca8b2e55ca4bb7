import { basename } from 'node:path'
import { ToolFailure } from '../../contract/base/errors.ts'
import { matchPath, matchPattern } from '../../kit/match/match-pattern.ts'
import { findProgram } from './find-program.ts'
import type { Reach } from '../files/reach.ts'

/**
 * Fails with `executable_blocked` if no pattern of the profile allows this program (absolute path, links resolved). `*` allows
 * all, no patterns allow none. A pattern with a slash is a path glob. One without is a name: it allows the program that
 * PATH names for it, and programs of that name outside the roots, never one that the call could have put there itself.
 */
export function allowProgram(reach: Reach, program: string): void {
  if (reach.executables.some((pattern) => allows(reach, pattern, program))) return
  const allowed = reach.executables.length === 0 ? 'none' : reach.executables.join(', ')
  throw new ToolFailure({
    code: 'SANDBOX.CAPABILITY_BLOCKED',
    reason: 'executable_blocked',
    message: `"${program}" is not among the programs this call may start (${allowed}).`,
    data: { executable: program },
  })
}

function allows(reach: Reach, pattern: string, program: string): boolean {
  if (pattern === '*') return true
  const meant = findProgram(pattern, { cwd: '/', path: reach.env['PATH'] ?? '' })
  if (meant?.path === program) return true
  if (pattern.includes('/')) return matchPath(pattern, program)
  return (
    matchPattern(pattern, basename(program)) && !reach.read.contain(program) && !reach.write.contain(program)
  )
}
