import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { decodeUtf8 } from './text/decode-utf8.ts'

/**
 * The text of a file of at most so many bytes, or why it has none. A link is not followed: what it leads to may belong to another user. A file that is
 * too large is not read.
 */
export function readWholeFile(path: string, maxBytes: number): { text: string } | { issue: string } {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    try {
      return readOpen(file, maxBytes)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (code === 'ELOOP') return { issue: 'It is a link. Put the file itself there.' }
    if (code === 'ENOENT') return { issue: 'There is no such file.' }
    return { issue: `The file cannot be read (${code}). Mend its permissions or remove it.` }
  }
}

function readOpen(file: number, maxBytes: number): { text: string } | { issue: string } {
  const stat = fstatSync(file)
  if (!stat.isFile()) return { issue: 'It is not a regular file. Put a file there or remove it.' }
  const bytes = Buffer.alloc(Math.min(stat.size, maxBytes) + 1)
  let length = 0
  for (let read = -1; read !== 0 && length < bytes.length; length += read)
    read = readSync(file, bytes, length, bytes.length - length, null)
  if (length > maxBytes || stat.size > maxBytes)
    return { issue: `It has ${stat.size} bytes, and at most ${maxBytes} are taken. Shorten it.` }
  return decodeUtf8(bytes.subarray(0, length))
}
