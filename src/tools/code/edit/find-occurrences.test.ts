import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findOccurrences } from './find-occurrences.ts'
import { startProcessorClock } from '../../../../test/support/processor-clock.ts'

const all = { limit: Number.POSITIVE_INFINITY, overlapping: true }

function bySlicing(text: string, wanted: string): number[] {
  const found: number[] = []
  for (let at = 0; wanted !== '' && at + wanted.length <= text.length; at++) {
    if (text.slice(at, at + wanted.length) === wanted) found.push(at)
  }
  return found
}

test('finds what a comparison at every offset finds', () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 40 })
  fc.assert(
    fc.property(letters, fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 4 }), (text, wanted) => {
      expect(findOccurrences(text, wanted, all)).toEqual(bySlicing(text, wanted))
    }),
  )
})

test('counts occurrences that share letters only where asked', () => {
  expect(findOccurrences('aaaa', 'aa', all)).toEqual([0, 1, 2])
  expect(findOccurrences('aaaa', 'aa', { ...all, overlapping: false })).toEqual([0, 2])
  expect(findOccurrences('aaaa', 'aa', { ...all, limit: 1 })).toEqual([0])
})

test('finds runs of lines', () => {
  expect(findOccurrences(['x', 'a', 'b', 'a', 'b'], ['a', 'b'], all)).toEqual([1, 3])
})

test('stays linear where a naive search takes minutes', () => {
  const text = 'a'.repeat(4_000_000)
  const wanted = `${'a'.repeat(500_000)}b${'a'.repeat(500_000)}`
  const spentMs = startProcessorClock()
  expect(findOccurrences(text, wanted, all)).toEqual([])
  expect(spentMs()).toBeLessThan(3_000)
})
