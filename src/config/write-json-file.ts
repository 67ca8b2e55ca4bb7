import { randomUUID } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { SetupError } from '../contract/errors.ts'
import { maxBytes, readJsonFile } from './read-json-file.ts'

/**
 * Replaces a file as a whole, or makes it for its owner only: whoever reads it sees all of it or what was there before. A link stays, and what
 * it leads to is replaced. Throws a SetupError if it cannot be written, or has comments of a person.
 */
export function writeJsonFile(path: string, value: unknown): void {
  const text = `${JSON.stringify(value, null, 2)}\n`
  const bytes = Buffer.byteLength(text)
  if (bytes > maxBytes)
    throw new SetupError(
      'invalid_configuration',
      `"${path}" would have ${bytes} bytes, and at most ${maxBytes} are taken. Nothing was changed.`,
    )
  refuseToLoseComments(path)
  const target = followLink(path)
  const temporary = `${target}.${randomUUID()}.new`
  try {
    const file = openSync(temporary, 'wx', 0o600)
    try {
      const mode = statSync(target, { throwIfNoEntry: false })?.mode
      if (mode !== undefined) fchmodSync(file, mode & 0o777)
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, target)
    syncFolder(dirname(target))
  } catch (error) {
    rmSync(temporary, { force: true })
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new SetupError(
      'invalid_configuration',
      `"${path}" cannot be written (${code}). Nothing was changed.`,
    )
  }
}

function refuseToLoseComments(path: string): void {
  const read = readJsonFile(path)
  if (read === undefined || 'faults' in read || !read.hasComments) return
  throw new SetupError(
    'invalid_configuration',
    `"${path}" has comments, which would be lost. Nothing was changed. Leave out --write, and add what is shown by hand.`,
  )
}

function followLink(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path)
}

/** Makes the new name last. Some systems have no way to do that for a folder. */
function syncFolder(path: string): void {
  if (process.platform === 'win32') return
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
