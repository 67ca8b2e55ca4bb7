import { accessSync, constants, realpathSync, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, resolve } from 'node:path'

/** A file that a program name means. */
export interface FoundProgram {
  /** Absolute, links resolved. */
  readonly path: string
  /** Absolute, as it is found, so that a program that goes by many names sees which one is meant. */
  readonly named: string
  /** Whether the operating system lets this process start it. */
  readonly executable: boolean
}

/**
 * The program that a name means: an absolute path, a path with a slash taken from `cwd`, or a name looked up in the directories
 * of `path` (the PATH variable). Directories of PATH that are not absolute are left out, so that nothing in the working directory
 * poses as a program. Undefined if the file does not exist.
 */
export function findProgram(name: string, where: { cwd: string; path: string }): FoundProgram | undefined {
  if (name === '' || name.includes('\0')) return undefined
  if (name.includes('/') || isAbsolute(name)) return programAt(resolve(where.cwd, name))
  const found = where.path
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => programAt(join(directory, name)))
    .filter((program) => program !== undefined)
  return found.find((program) => program.executable) ?? found[0]
}

function programAt(path: string): FoundProgram | undefined {
  try {
    const real = realpathSync.native(path)
    return statSync(real).isFile() ? { path: real, named: path, executable: mayStart(real) } : undefined
  } catch {
    // Not there, or in a directory that may not be entered: either way no program that can be started.
    return undefined
  }
}

function mayStart(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
