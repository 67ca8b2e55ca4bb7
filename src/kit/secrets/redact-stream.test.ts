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

test.each([
  ['a token', token, []],
  ['a secret of the operator', 'the door\'s "secret"', ['the door\'s "secret"']],
  ['a private key', key.replaceAll('\n', '\\n'), []],
])('%s is redacted whole wherever it lies in a line without an end (OUT-4)', (_name, secret, secrets) => {
  const filler = 'lorem ipsum '
  for (const before of [60_000, 70_000, 75_000, 78_000, 80_000, 80_850, 80_890, 80_900, 82_000, 98_000]) {
    const start = filler.repeat(Math.ceil(before / filler.length)).slice(0, before - 1)
    const text = `${start} ${secret} ${filler.repeat(20_000)}`
    const out = inPieces(text, 65_536, secrets).toString()
    expect(out === `${start} [redacted] ${filler.repeat(20_000)}`, `behind ${before} letters`).toBe(true)
  }
})

test('secrets without anything between them are each redacted whole (OUT-4)', () => {
  const out = inPieces('secret-one'.repeat(60_000), 65_536, ['secret-one']).toString()
  expect(out).toBe('[redacted]'.repeat(60_000))
})

test.each([1, 11, 100])(
  'a secret of several lines is redacted as one, in pieces of %i bytes (OUT-4)',
  (size) => {
    const secret = 'first half\nsecond half\nlast'
    const text = `a\n${secret}\nfirst half\nand no more\nAuthorization: Bearer\n  ${'x1'.repeat(20)}\nb\n`
    expect(inPieces(text, size, [secret]).toString()).toBe(
      'a\n[redacted]\nfirst half\nand no more\nAuthorization: Bearer [redacted]\nb\n',
    )
  },
)

test('whole lines go on at once, and no more waits than a line that does not end may be long (OUT-4)', () => {
  const stream = createRedactingStream(createRedactor([]))
  expect(Buffer.from(stream.push(Buffer.from('one\ntwo'))).toString()).toBe('one\n')
  const letters = new TextDecoder('utf-8', { fatal: true })
  let waiting = 3
  for (let round = 0; round < 50; round++) {
    const ready = stream.push(Buffer.from('€'.repeat(16_666)))
    expect(letters.decode(ready)).toMatch(/^(?:two)?€*$/)
    waiting += 49_998 - ready.length
    expect(waiting).toBeLessThan(100_000)
  }
})
