import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createBackOff } from './back-off.ts'

test('waits twice as long after each failure, up to a minute, and not at all after a success (MCP-1)', () => {
  const backOff = createBackOff(
    () => 0,
    () => 1,
  )
  const waits = Array.from({ length: 9 }, () => {
    backOff.failed()
    return backOff.waitMs()
  })
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
  backOff.succeeded()
  expect(backOff.waitMs()).toBe(0)
  backOff.failed()
  expect(backOff.waitMs()).toBe(1_000)
})

test('chance takes off up to half, and time passes (MCP-1)', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (chance) => {
      let now = 0
      const backOff = createBackOff(
        () => now,
        () => chance,
      )
      backOff.failed()
      expect(backOff.waitMs()).toBeGreaterThanOrEqual(500)
      expect(backOff.waitMs()).toBeLessThanOrEqual(1_000)
      now = 1_000
      expect(backOff.waitMs()).toBe(0)
    }),
  )
})
