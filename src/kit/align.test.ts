import { expect, test } from 'vitest'
import { align } from './align.ts'

const side = (one: string, other: string) =>
  align(one.split(''), other.split(''), [
    (left, right) => left === right,
    (left, right) => left.toLowerCase() === right.toLowerCase(),
  ]).map(([left = '-', right = '-']) => left + right)

test('sets alike things side by side, then such that are nearly alike, in the order of both', () => {
  expect(side('abc', 'abc')).toEqual(['aa', 'bb', 'cc'])
  expect(side('abc', 'axc')).toEqual(['aa', 'b-', '-x', 'cc'])
  expect(side('abc', 'aBc')).toEqual(['aa', 'bB', 'cc'])
  expect(side('', 'ab')).toEqual(['-a', '-b'])
  expect(side('ab', '')).toEqual(['a-', 'b-'])
  expect(side('ab', 'ba')).toHaveLength(3)
})
