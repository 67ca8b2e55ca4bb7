import { expect, test } from 'vitest'
import { cronTimes } from './cron-times.ts'
import { rounds } from '../../../test/support/rounds.ts'
import { stretchesOf, walk } from '../../../test/support/cron-walker.ts'

const zones = [
  'America/New_York',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
  'Europe/Berlin',
  'America/Havana',
  'America/Santiago',
  'Pacific/Chatham',
  'Africa/Cairo',
  'Asia/Kathmandu',
  'Europe/Dublin',
  'Asia/Kolkata',
  'UTC',
].slice(0, rounds({ usual: 2, long: 12 }))
/** From the first of January on: a leap day, and a change of the clock in spring and in autumn. */
const months = rounds({ usual: 4, long: 60 })
const from = Date.UTC(2024, 0, 1)
const until = Date.UTC(2024, months, 1)

/** Times that are left out or come twice, both days, ranges, steps, the ends of months and of February. */
const expressions = [
  '30 2 * * *',
  '0 0 * * *',
  '15 1-2 * * *',
  '0,30 1,2 * * *',
  '*/15 2 * * *',
  '0 */2 * * *',
  '15 0-3 * * *',
  '0 0 13 * 5',
  '5 4 * * 7',
  '0 9 1 */3 *',
  '59 23 28-31 * *',
  '30 1 * * 0',
  '* 1 * 3,4,10,11 0',
  '0 2 */2 * 0',
  '*/20 * * 3,4,9-11 0',
  '0 12 29 2 *',
]

test.each(zones)(
  `the times in %s over ${months} months are those of an independent walk through each minute (BI-5)`,
  (zone) => {
    const stretches = stretchesOf(zone, from, until)
    for (const expression of expressions) {
      const times = cronTimes(expression, zone)
      const found: number[] = []
      for (let at = times.next(from); at !== undefined && at < until; at = times.next(at)) found.push(at)
      const wanted = walk(expression, stretches).filter((at) => at > from)
      expect({ expression, times: found }).toEqual({ expression, times: wanted })
      expect(found.length).toBeGreaterThan(0)
    }
  },
)

test('names of months and days count, in either case (BI-5)', () => {
  const next = (expression: string) => cronTimes(expression, 'UTC').next(from)
  expect(next('0 9 * FEB mon-Fri')).toBe(Date.UTC(2024, 1, 1, 9))
  expect(next('0 9 * * sat,SUN')).toBe(Date.UTC(2024, 0, 6, 9))
})
