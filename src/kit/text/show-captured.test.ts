import { expect, test } from 'vitest'
import { inWholeLines, joinCaptured, lastWords } from './show-captured.ts'

const captured = (head: string, tail: string, truncated = true) => ({ head, tail, bytes: 1e6, truncated })

test('no line that was cut in two is shown (OUT-4)', () => {
  const lines = inWholeLines(captured('one two\nsk-first half', 'second half three\nfour'))
  expect([lines.head, lines.tail]).toEqual(['one two\n', '\nfour'])
  expect(joinCaptured(lines)).toBe('one two\n\n… 999987 of 1000000 bytes left out here …\n\nfour')
})

test('of a line that is longer than a secret no word that was cut in two is shown (OUT-4)', () => {
  const long = 'word '.repeat(1_000)
  const { head, tail } = inWholeLines(captured(`one\n${long}half`, `half ${long}\nfour`))
  expect([head, tail]).toEqual([`one\n${long}`, ` ${long}\nfour`])
})

test('what ends with a whole line, or was not cut, stays as it is', () => {
  expect(inWholeLines(captured('one two', '', false)).head).toBe('one two')
  expect(inWholeLines(captured('one two\n', '\nthree'))).toMatchObject({ head: 'one two\n', tail: '\nthree' })
})

test('of what has no blanks, what may be half of a secret is left out (OUT-4)', () => {
  const { head, tail } = inWholeLines(captured('x'.repeat(10_000), 'y'.repeat(10_000)))
  expect([head, tail]).toEqual(['x'.repeat(5904), 'y'.repeat(5904)])
})

test('the rest of a private key without its beginning is not shown (OUT-4)', () => {
  const rest = `${'MIIEvQIBADANBgkqhkiG9w0\n'.repeat(20)}${['-----END', 'PRIVATE KEY-----'].join(' ')}\nafter it`
  expect(inWholeLines(captured('', rest)).tail).toBe('\nafter it')
})

test('the last words are whole ones too', () => {
  expect(lastWords(captured('', ` no such file\n`))).toBe('no such file')
  expect(lastWords(captured(`${'a'.repeat(30)} ${'words '.repeat(120)}`, '', false))).toBe(
    'words '.repeat(83).trim(),
  )
})
