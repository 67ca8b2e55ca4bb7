import { accessSync, constants, statSync } from 'node:fs'

/** Why the program at this path cannot be started, and what to do; undefined if it can, and for one to find in PATH. */
export function checkProgram(path: string): string | undefined {
  if (!path.includes('/')) return undefined
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return `There is no program "${path}". Put it there, or correct "command".`
  if (!stat.isFile()) return `"${path}" is not a file. Name a program as "command".`
  try {
    accessSync(path, constants.X_OK)
    return undefined
  } catch {
    return `The program "${path}" may not be executed. Allow it: chmod +x ${path}`
  }
}
