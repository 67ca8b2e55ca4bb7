import { expect, test } from 'vitest'
import { detectBinary } from './detect-binary.ts'

test.each([
  ['plain text', Buffer.from('hello\n')],
  ['nothing', Buffer.alloc(0)],
  ['other scripts', Buffer.from('Привет, 世界 🙂\n'.repeat(1_000))],
  ['UTF-16 with its mark', Buffer.from('\uFEFFhello', 'utf16le')],
  ['mostly ASCII in Latin-1', Buffer.from('caf\xe9 au lait, s\xeel vous pla\xeet, monsieur', 'latin1')],
])('takes %s as text (FILE-1)', (_what, bytes) => {
  expect(detectBinary(bytes)).toBeUndefined()
})

test.each([
  ['a NUL byte', Buffer.from('a\0b'), 'application/octet-stream'],
  [
    'bytes that are no UTF-8',
    Buffer.from([0x80, 0xff, 0xfe, 0x90, 0xc0, 0xaf, 0x41]),
    'application/octet-stream',
  ],
  ['a PNG', Buffer.from('\x89PNG\r\n\x1a\n....', 'latin1'), 'image/png'],
  ['a PDF without NUL', Buffer.from('%PDF-1.7\n%abc\n'), 'application/pdf'],
  ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x41, 0, 0, 0]), 'application/octet-stream'],
])('takes %s as binary (FILE-1)', (_what, bytes, kind) => {
  expect(detectBinary(bytes)).toBe(kind)
})

test('does not mind a character that the looked-at part cuts', () => {
  expect(detectBinary(Buffer.from('é'.repeat(5_000)))).toBeUndefined()
})
