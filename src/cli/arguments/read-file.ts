import { readFileSync } from 'node:fs'
import { describeFileError } from '../../kit/text/describe-file-error.ts'
import { decodeUtf8 } from '../../kit/text/decode-utf8.ts'
import { showLine } from '../base/show-safely.ts'
import { UsageError } from '../base/usage-error.ts'

const maxBytes = 1024 * 1024

/** The text of a file that a person names. Throws a UsageError for one that cannot be read, is not UTF-8, or has more than 1 MiB. */
export function readFile(path: string): string {
  const shown = `"${showLine(path)}"`
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    throw new UsageError(`The file ${shown} cannot be read: ${describeFileError(error)}.`)
  }
  if (bytes.length > maxBytes)
    throw new UsageError(
      `The file ${shown} has ${bytes.length} bytes, and at most ${maxBytes} are taken. Shorten it.`,
    )
  const decoded = decodeUtf8(bytes)
  if ('issue' in decoded) throw new UsageError(`The file ${shown} cannot be used. ${decoded.issue}`)
  return decoded.text
}
