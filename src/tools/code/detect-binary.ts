import { findEncoding } from './text-file.ts'

/** How many bytes of a file decide whether it is text. */
export const sniffedBytes = 8_192

/** More replacement characters than this share of all, and the bytes are no text in UTF-8. */
const maxBrokenShare = 0.2

/** First bytes of well-known formats, as latin-1 text. */
const signatures: readonly (readonly [start: string, mimeType: string])[] = [
  ['%PDF-', 'application/pdf'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['\x1f\x8b', 'application/gzip'],
  ['PK\x03\x04', 'application/zip'],
  ['\xfd7zXZ\0', 'application/x-xz'],
  ['\x28\xb5\x2f\xfd', 'application/zstd'],
  ['7z\xbc\xaf\x27\x1c', 'application/x-7z-compressed'],
  ['\x7fELF', 'application/x-elf'],
  ['\xcf\xfa\xed\xfe', 'application/x-mach-binary'],
  ['\xca\xfe\xba\xbe', 'application/java-vm'],
  ['\0asm', 'application/wasm'],
  ['SQLite format 3\0', 'application/vnd.sqlite3'],
  ['wOF2', 'font/woff2'],
  ['OggS', 'application/ogg'],
]

/**
 * The kind of a binary file from its first bytes, as a MIME type (`application/octet-stream` where it is not known);
 * undefined for text. Binary is: a known signature, a NUL byte outside of UTF-16, or bytes that are mostly not UTF-8.
 */
export function detectBinary(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, sniffedBytes))
  const start = head.toString('latin1', 0, 16)
  const known = signatures.find(([signature]) => start.startsWith(signature))
  if (known !== undefined) return known[1]
  if (start.startsWith('RIFF') && start.slice(8, 12) === 'WEBP') return 'image/webp'
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
