import { realpathSync, statSync } from 'node:fs'
import { SetupError } from '../../contract/base/errors.ts'
import { writeWhole } from '../../kit/write-whole.ts'
import { maxBytes, readJsonFile } from './read-json-file.ts'

/**
 * Replaces a file as a whole, or makes it for its owner only: a reader sees all of it or what was there before. A link stays, and what
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
  try {
    const target = followLink(path)
    const mode = statSync(target, { throwIfNoEntry: false })?.mode ?? 0o600
    writeWhole(target, { text, mode: mode & 0o777 })
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new SetupError(
      'invalid_configuration',
      `"${path}" cannot be written (${code}). Nothing was changed.`,
    )
  }
}

function refuseToLoseComments(path: string): void {
  const read = readJsonFile(path)
  if (read === undefined || 'issues' in read || !read.hasComments) return
  throw new SetupError(
    'invalid_configuration',
    `"${path}" has comments, which would be lost. Nothing was changed. Leave out --write, and add what is shown by hand.`,
  )
}

function followLink(path: string): string {
  return statSync(path, { throwIfNoEntry: false }) === undefined ? path : realpathSync(path)
}
