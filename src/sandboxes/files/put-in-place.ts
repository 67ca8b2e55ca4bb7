import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
} from 'node:fs'
import { fileDigest } from '../../kit/json/digest.ts'
import { pathConflict, stalePreview, systemErrorName } from './file-failure.ts'

/** What to write, and what must be there just before. */
export interface FileChange {
  readonly bytes: Uint8Array
  readonly createDirs: boolean
  readonly expect: 'absent' | { readonly digest: string }
}

/**
 * Gives a finished temporary file its name if what is there is what `expect` says, without giving way in between. Fails with
 * `path_conflict` or `stale_preview`, or with a system error. `path` is for messages.
 */
export function putInPlace(
  temporary: string,
  destination: string,
  { path, expect }: { path: string; expect: FileChange['expect'] },
): void {
  if (expect === 'absent') createOnly(temporary, destination, path)
  else if (digestAt(destination) === expect.digest) renameSync(temporary, destination)
  else throw stalePreview(path)
}

/** Gives a regular file another name if that is free. Linking, unlike renaming, never replaces what is there. */
export function createOnly(temporary: string, destination: string, path: string): void {
  try {
    linkSync(temporary, destination)
  } catch (error) {
    const name = systemErrorName(error)
    if (name === 'EEXIST') throw pathConflict(path)
    if (name === undefined || !withoutHardLinks.has(name)) throw error
    reserveAndRename(temporary, destination, path)
    return
  }
  unlinkSync(temporary)
}

/** What file systems answer that know no hard links. */
const withoutHardLinks = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

function reserveAndRename(temporary: string, destination: string, path: string): void {
  try {
    closeSync(openSync(destination, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600))
  } catch (error) {
    throw systemErrorName(error) === 'EEXIST' ? pathConflict(path) : error
  }
  renameSync(temporary, destination)
}

/** The digest of what is there now; undefined if it is gone or no longer a regular file. */
function digestAt(path: string): string | undefined {
  const descriptor = openUnlessGone(path)
  if (descriptor === undefined) return undefined
  try {
    return fstatSync(descriptor).isFile() ? fileDigest(readFileSync(descriptor)) : undefined
  } finally {
    closeSync(descriptor)
  }
}

function openUnlessGone(path: string): number | undefined {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants
  try {
    return openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'ENXIO'].includes(systemErrorName(error) ?? '')) return undefined
    throw error
  }
}
