import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/** A definition larger than this is none. */
const maxBytes = 1024 * 1024

/**
 * The text of one tool file, or why it has none. A link is not followed: what it leads to may belong to somebody else. A file that
 * is too large is not read.
 */
export function readToolFile(path: string): { text: string } | { fault: string } {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
    try {
      return readOpen(file)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    if (code === 'ELOOP') return { fault: 'It is a link. Put the file itself there.' }
    if (code === 'ENOENT') return { fault: 'There is no such file.' }
    return { fault: `The file cannot be read (${code}). Mend its permissions or remove it.` }
  }
}

function readOpen(file: number): { text: string } | { fault: string } {
  const stat = fstatSync(file)
  if (!stat.isFile()) return { fault: 'It is no regular file. Put a file there or remove it.' }
  const bytes = Buffer.alloc(Math.min(stat.size, maxBytes) + 1)
  let length = 0
  for (let read = -1; read !== 0 && length < bytes.length; length += read)
    read = readSync(file, bytes, length, bytes.length - length, null)
  if (length > maxBytes || stat.size > maxBytes)
    return { fault: `It has ${stat.size} bytes, and at most ${maxBytes} are taken. Shorten it.` }
  return decode(bytes.subarray(0, length))
}

function decode(bytes: Uint8Array): { text: string } | { fault: string } {
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return { fault: 'The file is not UTF-8. Save it as UTF-8.' }
  }
  if (text.startsWith('\ufeff'))
    return { fault: 'The file begins with a byte order mark. Save it as UTF-8 without one.' }
  return text.trim() === '' ? { fault: 'The file is empty. Write a tool into it or remove it.' } : { text }
}
