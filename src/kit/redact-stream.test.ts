import { expect, test } from 'vitest'
import { createRedactingStream } from './redact-stream.ts'
import { createRedactor } from './redact.ts'

const token = ['ghp_', 'a1b2c3d4e5'.repeat(4)].join('')
const key = [
  '-----BEGIN PRIVATE',
  `KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0\n'.repeat(20)}-----END PRIVATE KEY-----`,
].join(' ')

function inPieces(text: string | Buffer, size: number, secrets: string[] = []): Buffer {
  const stream = createRedactingStream(createRedactor(secrets))
  const bytes = Buffer.from(text)
  const out: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += size) out.push(stream.push(bytes.subarray(at, at + size)))
  return Buffer.concat([...out, stream.end()])
}

test.each([1, 7, 64, 4_096])('a secret in pieces of %i bytes is redacted whole (OUT-4)', (size) => {
  const text = `first line\ntoken ${token} here\n${key}\nlast: schlüssel-wörter`
  const out = inPieces(text, size, ['schlüssel-wörter']).toString()
  expect(out).toBe('first line\ntoken [redacted] here\n[redacted]\nlast: [redacted]')
})

test('bytes that are no secret come out as they went in (OUT-4)', () => {
  const bytes = Buffer.from(Array.from({ length: 4_096 }, (_, index) => (index * 7) % 256))
  expect(inPieces(bytes, 100).equals(bytes)).toBe(true)
})
