import { expect, test } from 'vitest'
import { showDuration } from './show-duration.ts'

test.each([
  [0, '0 ms'],
  [999.6, '1000 ms'],
  [1_000, '1 s'],
  [1_540, '1.5 s'],
  [59_999, '60 s'],
  [60_000, '1 min'],
  [125_000, '2 min 5 s'],
  [3_599_999, '60 min'],
  [3_600_000, '1 h'],
  [53_440_124, '14 h 51 min'],
  [86_400_000, '1 d'],
  [90_000_000, '1 d 1 h'],
  [Number.POSITIVE_INFINITY, 'Infinity ms'],
])('%d ms is %s', (ms, words) => {
  expect(showDuration(ms)).toBe(words)
})
