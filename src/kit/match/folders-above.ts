import { dirname } from 'node:path'

/** The folders that an absolute path names above its last name, the nearest first. */
export function foldersAbove(path: string): string[] {
  const folders: string[] = []
  for (let at = path; dirname(at) !== at; at = dirname(at)) folders.push(dirname(at))
  return folders
}
