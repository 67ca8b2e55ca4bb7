import { matchPattern } from '../../kit/match/match-pattern.ts'
import { isInside } from '../../kit/match/is-inside.ts'

/** A command as an operation names it. `executable` is absolute with links resolved, `argv[0]` what was asked for. */
interface Command {
  executable: string
  argv: readonly string[]
}

/**
 * Whether a pattern surely means the program of a command. With a slash it is a pattern of the executable's path. Without one it is
 * a name: of a program outside of every writable directory that was asked for by that name, and is either what PATH finds for it or
 * carries the name itself. So `./ls` in the project is never `ls`, and a program of many names is only the one asked for.
 */
export function isProgram(pattern: string, command: Command, writable: readonly string[]): boolean {
  if (pattern.includes('/')) return matchPattern(pattern, command.executable)
  const asked = command.argv[0] ?? ''
  if (!matchPattern(pattern, baseName(asked))) return false
  if (writable.some((root) => isInside(command.executable, root))) return false
  return !asked.includes('/') || matchPattern(pattern, baseName(command.executable))
}

/** Whether a pattern could mean the program of a command: by the path or the name it has, or by the name it was asked for with. */
export function couldBeProgram(pattern: string, { executable, argv }: Command): boolean {
  if (pattern.includes('/')) return matchPattern(pattern, executable)
  return matchPattern(pattern, baseName(executable)) || matchPattern(pattern, baseName(argv[0] ?? ''))
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
