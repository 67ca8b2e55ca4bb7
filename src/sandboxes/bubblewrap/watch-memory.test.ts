import { expect, test } from 'vitest'
import { nextPauseMs } from './watch-memory.ts'

const mebibyte = 1024 * 1024

test('memory that stays as it is is looked at less and less often, at least every 200 ms', () => {
  const grown = { bytes: 0, ms: 25 }
  const pauses = [25]
  for (let round = 0; round < 5; round++)
    pauses.push(nextPauseMs(pauses.at(-1) ?? 0, { left: 512 * mebibyte, grown }))
  expect(pauses).toEqual([25, 50, 100, 200, 200, 200])
})

test('memory that grows towards its bound is looked at before it can be there', () => {
  const grown = { bytes: 100 * mebibyte, ms: 50 }
  expect(nextPauseMs(200, { left: 200 * mebibyte, grown })).toBe(50)
  expect(nextPauseMs(200, { left: 50 * mebibyte, grown })).toBe(12.5)
  expect(nextPauseMs(200, { left: 1 * mebibyte, grown })).toBe(10)
  expect(nextPauseMs(200, { left: 10_000 * mebibyte, grown })).toBe(200)
})

test('a bound that is passed is looked at again at once', () => {
  expect(nextPauseMs(200, { left: -mebibyte, grown: { bytes: mebibyte, ms: 10 } })).toBe(10)
})
