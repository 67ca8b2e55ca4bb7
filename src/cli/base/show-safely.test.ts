import { expect, test } from 'vitest'
import { showJson, showLine, showSafely } from './show-safely.ts'

test.each([
  ['an escape sequence', 'a\x1b[2Jb', 'a\\u{1b}[2Jb'],
  ['a carriage return that overwrites the line', 'deny\rallow', 'deny\\u{d}allow'],
  ['a C1 control', 'a\x9b31mb', 'a\\u{9b}31mb'],
  ['a bidirectional override', 'a\u202eb', 'a\\u{202e}b'],
  ['a letter of no width', 'a\u200bb', 'a\\u{200b}b'],
  ['tag characters outside the basic plane', 'a\u{e0041}b', 'a\\u{e0041}b'],
])('shows %s as its code', (_, text, shown) => {
  expect(showSafely(text)).toBe(shown)
})

test('leaves tabs, line feeds, letters and emoji as they are', () => {
  expect(showSafely('ä\t日本\n👍🏽')).toBe('ä\t日本\n👍🏽')
})

test('shows a line feed where the text must stay on its line', () => {
  expect(showLine('a\nAllow? once')).toBe('a\\nAllow? once')
})

test('JSON says the same to programs, without a letter that a terminal would act on', () => {
  const value = { 'a\x9b31m': ['b\u202e\u{e0041}\x1b', 'ä\n👍🏽'] }
  const shown = showJson(value)
  expect(JSON.parse(shown)).toEqual(value)
  expect(shown).toContain('"a\\u009b31m"')
  expect(shown).toContain('"b\\u202e\\udb40\\udc41\\u001b"')
  expect(shown).toContain('👍🏽')
})
