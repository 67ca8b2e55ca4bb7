import { findFormat } from '../../../kit/find-format.ts'
import { findEncoding } from './text-file.ts'

/** How many bytes of a file decide whether it is text. */
export const sniffedBytes = 8_192

/** More replacement characters than this share of all, and the bytes are no text in UTF-8. */
const maxBrokenShare = 0.2

/**
 * The kind of a binary file from its first bytes, as a MIME type (`application/octet-stream` where it is not known);
 * undefined for text. Binary is: a known signature, a NUL byte outside of UTF-16, or bytes that are mostly not UTF-8.
 */
export function detectBinary(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, sniffedBytes))
  const format = findFormat(head)
  if (format !== undefined) return format
  const { encoding } = findEncoding(head)
  if (encoding !== 'utf-8') return undefined
  return head.includes(0) || isBroken(head) ? 'application/octet-stream' : undefined
}

function isBroken(head: Uint8Array): boolean {
  // `stream` keeps back a character that the end of the head cuts.
  const text = new TextDecoder().decode(head, { stream: true })
  let broken = 0
  for (const letter of text) if (letter === '\uFFFD') broken++
  return broken > text.length * maxBrokenShare
}
