/**
 * Cron times the slow way, made of nothing but `Intl`: walks minute by minute and looks at the clock on the wall. What the schedule computes is held
 * against it.
 */

const minuteMs = 60_000

/** How far the wall clock of a zone is ahead of UTC at a time, in milliseconds. */
function createOffsets(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  return (at) => {
    const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 1, day, hour, minute } = part
    return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(at / minuteMs) * minuteMs
  }
}

/** A stretch of time in which the clock of a zone was not put forward or back. */
interface Stretch {
  readonly from: number
  readonly until: number
  readonly offset: number
}

/** The stretches between two times, found hour by hour and then to the minute. */
export function stretchesOf(zone: string, from: number, until: number): Stretch[] {
  const offsetAt = createOffsets(zone)
  const stretches: Stretch[] = []
  let start = from
  let offset = offsetAt(from)
  for (let at = from; at < until; at += 60 * minuteMs) {
    if (offsetAt(at + 60 * minuteMs) === offset) continue
    let change = at
    while (offsetAt(change) === offset) change += minuteMs
    stretches.push({ from: start, until: change, offset })
    start = change
    offset = offsetAt(change)
  }
  return [...stretches, { from: start, until, offset }]
}

interface Fields {
  readonly minute: ReadonlySet<number>
  readonly hour: ReadonlySet<number>
  readonly day: ReadonlySet<number>
  readonly month: ReadonlySet<number>
  readonly weekday: ReadonlySet<number>
  readonly isDayFree: boolean
  readonly isWeekdayFree: boolean
  /** Whether it names hours, rather than every or every n-th one. */
  readonly namesHours: boolean
}

function readFields(expression: string): Fields {
  const [minute = '', hour = '', day = '', month = '', weekday = ''] = expression.split(' ')
  return {
    minute: readField(minute, 0, 59),
    hour: readField(hour, 0, 23),
    day: readField(day, 1, 31),
    month: readField(month, 1, 12),
    weekday: new Set([...readField(weekday, 0, 7)].map((each) => each % 7)),
    isDayFree: day === '*',
    isWeekdayFree: weekday === '*',
    namesHours: !hour.startsWith('*'),
  }
}

function readField(text: string, least: number, most: number): Set<number> {
  const values = new Set<number>()
  for (const part of text.split(',')) {
    const [range = '', step = '1'] = part.split('/')
    const [first = '', last = first] = range === '*' ? [String(least), String(most)] : range.split('-')
    for (let value = Number(first); value <= Number(last); value += Number(step)) values.add(value)
  }
  return values
}

/** `wall` is the time on the wall, as if it were UTC. */
function fits(fields: Fields, wall: number): boolean {
  const date = new Date(wall)
  if (!fields.minute.has(date.getUTCMinutes()) || !fields.hour.has(date.getUTCHours())) return false
  if (!fields.month.has(date.getUTCMonth() + 1)) return false
  const isDay = fields.day.has(date.getUTCDate())
  const isWeekday = fields.weekday.has(date.getUTCDay())
  return fields.isDayFree || fields.isWeekdayFree ? isDay && isWeekday : isDay || isWeekday
}

/**
 * All times of an expression in these stretches. Where the clock is put forward, times with named hours that are left out come at the first minute
 * behind; where it is put back, they come the first time only. Times of every or every n-th hour follow the clock.
 */
export function walk(expression: string, stretches: readonly Stretch[]): number[] {
  const fields = readFields(expression)
  const times: number[] = []
  let wallDone = -Infinity
  for (const [index, { from, until, offset }] of stretches.entries()) {
    const before = stretches[index - 1]
    if (fields.namesHours && before !== undefined) {
      const [leftFrom, leftUntil] = [before.until + before.offset, from + offset]
      for (let wall = leftFrom; wall < leftUntil; wall += minuteMs)
        if (fits(fields, wall)) {
          times.push(from)
          break
        }
    }
    for (let at = from; at < until; at += minuteMs) {
      const wall = at + offset
      if (!fits(fields, wall) || (fields.namesHours && wall <= wallDone) || times.at(-1) === at) continue
      times.push(at)
    }
    wallDone = Math.max(wallDone, until - minuteMs + offset)
  }
  return times
}
