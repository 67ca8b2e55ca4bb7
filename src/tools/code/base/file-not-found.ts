import { basename, dirname, join } from 'node:path'
import { ToolFailure } from '../../../contract/base/errors.ts'
import type { Files } from '../../../contract/services/sandbox.ts'
import { nearestNames } from '../../../kit/text/nearest-names.ts'
import { showPath } from './show-path.ts'

const maxNames = 1_000

/** The failure for a file that is not there, with the nearest names in its directory. */
export async function fileNotFound(files: Files, project: string, path: string): Promise<ToolFailure> {
  const directory = dirname(path)
  const names = await listNames(files, directory)
  const nearest = nearestNames(basename(path), names ?? []).map((name) =>
    showPath(project, join(directory, name)),
  )
  const hint =
    names === undefined
      ? `There is no directory "${showPath(project, directory)}" either.`
      : nearest.length > 0
        ? `Did you mean ${nearest.map((name) => `"${name}"`).join(' or ')}?`
        : `List "${showPath(project, directory)}" to see what is there.`
  const shown = showPath(project, path)
  return new ToolFailure({
    reason: 'file_not_found',
    message: `There is no file "${shown}". ${hint}`,
    data: { path: shown, nearest },
  })
}

/** Undefined if the directory does not exist or may not be seen. */
async function listNames(files: Files, directory: string): Promise<string[] | undefined> {
  try {
    const { entries } = await files.list(directory, { recursive: false, limit: maxNames })
    return entries.map((entry) => entry.path)
  } catch (error) {
    if (error instanceof ToolFailure) return undefined
    throw error
  }
}
