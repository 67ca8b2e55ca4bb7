import { expect, test } from 'vitest'
import { inWholeWords, joinCaptured, lastWords, splitLastWord } from './show-captured.ts'

const captured = (head: string, tail: string, truncated = true) => ({ head, tail, bytes: 1e6, truncated })

test('no word that was cut in two is shown (OUT-4)', () => {
  const words = inWholeWords(captured('one two\nsk-first-half', 'second-half three\nfour'))
  expect([words.head, words.tail]).toEqual(['one two\n', ' three\nfour'])
  expect(joinCaptured(words)).toBe('one two\n\n… 999981 of 1000000 bytes left out here …\n three\nfour')
})

test('what ends with a whole word, or was not cut, stays as it is', () => {
  expect(inWholeWords(captured('one two', '', false)).head).toBe('one two')
  expect(inWholeWords(captured('one two\n', ' three'))).toMatchObject({ head: 'one two\n', tail: ' three' })
})

test('of what has no blanks, what may be half of a secret is left out (OUT-4)', () => {
  const { head, tail } = inWholeWords(captured('x'.repeat(10_000), 'y'.repeat(10_000)))
  expect([head, tail]).toEqual(['x'.repeat(5904), 'y'.repeat(5904)])
})

test('the rest of a private key without its beginning is not shown (OUT-4)', () => {
  const rest = `${'MIIEvQIBADANBgkqhkiG9w0\n'.repeat(20)}${['-----END', 'PRIVATE KEY-----'].join(' ')}\nafter it`
  expect(inWholeWords(captured('', rest)).tail).toBe('\nafter it')
})

test('the last words are whole ones too', () => {
  expect(lastWords(captured('', ` no such file\n`))).toBe('no such file')
  expect(lastWords(captured(`${'a'.repeat(30)} ${'words '.repeat(120)}`, '', false))).toBe(
    'words '.repeat(83).trim(),
  )
})

test('pieces put together again are what came, each a whole word (OUT-4)', () => {
  const shown: string[] = []
  let kept = ''
  for (const piece of ['one t', 'wo', ' thr', 'ee\n', 'four']) {
    const { whole, rest } = splitLastWord(kept + piece)
    if (whole !== '') shown.push(whole)
    kept = rest
  }
  expect(shown).toEqual(['one ', 'two ', 'three\n'])
  expect(kept).toBe('four')
})
