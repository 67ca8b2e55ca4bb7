import { expect, test } from 'vitest'
import { decodeTextFile } from './text-file.ts'

test.each([
  ['UTF-8', Buffer.from('äöü\r\n🙂'), false],
  ['UTF-8 with a mark', Buffer.from('\uFEFFäöü'), true],
  ['UTF-16 little endian', Buffer.from('\uFEFFäöü', 'utf16le'), true],
  ['UTF-16 big endian', Buffer.from('\uFEFFäöü', 'utf16le').swap16(), true],
])('gives back the same bytes for %s', (_what, bytes, bom) => {
  const before = Buffer.from(bytes)
  const file = decodeTextFile(bytes)
  expect(file?.bom).toBe(bom)
  expect(file?.text.startsWith('äöü')).toBe(true)
  expect(Buffer.compare(file?.encode(file.text) ?? Buffer.alloc(0), before)).toBe(0)
})

test.each([
  ['broken UTF-8', Buffer.from('caf\xe9', 'latin1')],
  ['NUL bytes', Buffer.from('a\0b')],
  ['half of a surrogate pair', Buffer.from([0xff, 0xfe, 0x00, 0xd8])],
])('is undefined for %s, which an edit would damage', (_what, bytes) => {
  expect(decodeTextFile(bytes)).toBeUndefined()
})
