import { dirname } from 'node:path'
import type { Files } from '../../../contract/services/sandbox.ts'
import { fileNotFound } from '../base/file-not-found.ts'

/** Fails with `file_not_found` where the directory of a path is not there, and names the nearest ones. */
export async function requireDirectory(files: Files, project: string, path: string): Promise<void> {
  const directory = dirname(path)
  if ((await files.stat(directory)) === undefined) throw await fileNotFound(files, project, directory)
}
