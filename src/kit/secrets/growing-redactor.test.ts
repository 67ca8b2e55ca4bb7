import { expect, test } from 'vitest'
import { createGrowingRedactor, longestLearnt } from './growing-redactor.ts'

test('secrets that come are hidden from then on, those before them once more, and all others', () => {
  const redactor = createGrowingRedactor(['fixed-secret'])
  const text = 'fixed-secret first-token second-token third-token other-token'
  expect(redactor.text(text)).toBe('[redacted] first-token second-token third-token other-token')

  redactor.hide('a', ['first-token'])
  redactor.hide('b', ['other-token'])
  expect(redactor.text(text)).toBe('[redacted] [redacted] second-token third-token [redacted]')
  redactor.hide('a', ['second-token'])
  expect(redactor.json({ text })).toEqual({ text: '[redacted] [redacted] [redacted] third-token [redacted]' })
  redactor.hide('a', ['second-token'])
  expect(redactor.text(text)).toContain('[redacted] [redacted] [redacted] third-token')
  redactor.hide('a', ['third-token'])
  expect(redactor.text(text)).toBe('[redacted] first-token [redacted] [redacted] [redacted]')
})

test('a secret that is too long to look for costs the others nothing', () => {
  const redactor = createGrowingRedactor([])
  const long = 'x'.repeat(longestLearnt + 1)
  redactor.hide('a', ['first-token', long])
  for (const _ of [1, 2]) redactor.hide('a', ['second-token', long])
  expect(redactor.text('first-token second-token')).toBe('[redacted] [redacted]')
})

test('the bounds of a text that is cut grow with the secrets', () => {
  const redactor = createGrowingRedactor([])
  const long = 'x'.repeat(longestLearnt)
  const before = redactor.longestSecret
  redactor.hide('a', [long])
  expect([redactor.longestSecret > before]).toEqual([true])
  expect(redactor.cut(`${long}y`, 100)).toBe(0)
  expect(redactor.lineEnd(`a\n${long}\n`)).toBe(longestLearnt + 3)
})
