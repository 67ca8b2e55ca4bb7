import { expect, test } from 'vitest'
import { shorten } from './shorten.ts'

test('a text that is too long ends with an ellipsis, and with no half of a character', () => {
  expect(shorten('abc', 3)).toBe('abc')
  expect(shorten('abcd', 3)).toBe('abc…')
  expect(shorten('ab😀c', 3)).toBe('ab…')
})
