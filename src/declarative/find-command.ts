import { realpathSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { ToolFile } from './tool-file.ts'

/** How the program of a tool is asked for, and the name or path that the tool may start. */
export interface DeclaredProgram {
  /** A name to look up in PATH, or an absolute path. */
  readonly asked: string
  readonly executable: string
}

/**
 * The program of a tool. A path with a dot starts at the folder of the file, never at the working directory: there a project could
 * put its own.
 */
export function findCommand({ command, command_type: type }: ToolFile, path: string): DeclaredProgram {
  if (type === 'shell') return { asked: 'sh', executable: 'sh' }
  if (!command.includes('/')) return { asked: command, executable: command }
  const asked = resolve(dirname(path), command)
  return { asked, executable: realOf(asked) }
}

function realOf(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
