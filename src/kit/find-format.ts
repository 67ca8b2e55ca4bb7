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

/** The MIME type of the well-known binary format that bytes begin as; undefined for all others. */
export function findFormat(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 16)).toString('latin1')
  const known = signatures.find(([signature]) => start.startsWith(signature))
  if (known !== undefined) return known[1]
  return start.startsWith('RIFF') && start.slice(8, 12) === 'WEBP' ? 'image/webp' : undefined
}
