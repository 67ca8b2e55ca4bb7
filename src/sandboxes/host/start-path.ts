import { basename } from 'node:path'
import type { FoundProgram } from '../programs/find-program.ts'
import { programOf } from './host-commands.ts'
import type { Reach } from '../files/reach.ts'

/** The path by which to start the program of a command: one that goes by several names has to see by which it was called. */
export function startPath(
  reach: Reach,
  command: { readonly argv: readonly string[]; readonly cwd: string },
  program: FoundProgram,
): string {
  const [name = ''] = command.argv
  if (basename(name) === basename(program.path)) return program.path
  const found = programOf(reach, name, command.cwd)
  return found?.path === program.path ? found.named : program.path
}
