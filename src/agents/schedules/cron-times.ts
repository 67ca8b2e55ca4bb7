import { Cron } from 'croner'

/** The times that an expression names in a time zone, in milliseconds since the epoch. */
export interface CronTimes {
  /** The first one after this time; undefined if there is none. */
  next(after: number): number | undefined
}

const minuteMs = 60_000
const dayMs = 86_400_000

const months = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
const weekdays = 'sun|mon|tue|wed|thu|fri|sat'
const field = (names: string): RegExp => {
  const value = names === '' ? String.raw`\d{1,2}` : String.raw`(?:\d{1,2}|${names})`
  const part = String.raw`(?:\*|${value}(?:-${value})?)(?:/[1-9]\d?)?`
  return new RegExp(`^${part}(?:,${part})*$`, 'i')
}
const fields = [
  { name: 'minute', form: field('') },
  { name: 'hour', form: field('') },
  { name: 'day of the month', form: field('') },
  { name: 'month', form: field(months) },
  { name: 'day of the week', form: field(weekdays) },
] as const

/** Why this is not a cron expression of five fields; undefined if it is. */
export function findExpressionIssue(expression: string): string | undefined {
  const given = expression.trim().split(/\s+/)
  if (given.length !== fields.length)
    return 'It must have five fields: minute, hour, day of the month, month, day of the week. Such as "0 9 * * 1-5".'
  const index = fields.findIndex(({ form }, place) => !form.test(given[place] ?? ''))
  if (index !== -1)
    return `Its ${fields[index]?.name ?? ''} "${given[index] ?? ''}" must be made of numbers, names, "*", ",", "-" and "/".`
  try {
    if (calendarOf(expression).nextRun(new Date(0)) === null) return 'No date fits it.'
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)
  }
}

/** The name of a time zone as the system writes it; undefined if it knows none of this name. */
export function findZone(name: string | undefined): string | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

/**
 * The times of a checked expression. The library finds them on the wall clock; this says when the clock shows them. If the clock is put forward, times
 * with named hours that it leaves out come at the first minute behind; if it is put back, they come the first time only. Times of every hour or
 * every n-th one follow the clock.
 */
export function cronTimes(expression: string, zone: string): CronTimes {
  const calendar = calendarOf(expression)
  const clock = clockOf(zone)
  const namesHours = !(expression.trim().split(/\s+/)[1] ?? '').startsWith('*')
  const instantsOf = (wall: number): number[] => {
    const shown = clock.instantsOf(wall)
    if (!namesHours) return shown
    return [shown[0] ?? clock.firstBehind(wall)]
  }
  return {
    next(after) {
      const ahead = clock.offsetAt(after)
      // What is shown a second time within the next day may have been passed already.
      const back = Math.max(0, ahead - clock.offsetAt(after + dayMs))
      let best: number | undefined
      let wall = after + ahead - back
      for (;;) {
        const next = calendar.nextRun(new Date(wall))?.getTime()
        if (next === undefined || (best !== undefined && next - ahead > best)) return best
        for (const at of instantsOf(next)) if (at > after && (best === undefined || at < best)) best = at
        wall = next
      }
    },
  }
}

/** Its times as if the wall clock were that of UTC, which is never put forward or back. */
function calendarOf(expression: string): Cron {
  return new Cron(expression.trim().split(/\s+/).join(' '), { timezone: 'UTC', mode: '5-part', paused: true })
}

interface Clock {
  /** How far the wall clock is ahead of UTC. */
  offsetAt(at: number): number
  /** When it shows this: once, twice, or never. */
  instantsOf(wall: number): number[]
  /** The first time behind what it leaves out, of which this is a part. */
  firstBehind(wall: number): number
}

const clocks = new Map<string, Clock>()

/** The wall clock of a zone. It is put forward or back once within three days at most. */
function clockOf(zone: string): Clock {
  const known = clocks.get(zone)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    era: 'short',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  })
  const offsetAt = (at: number): number => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const read = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0
    const wall = Date.UTC(read('year'), read('month') - 1, read('day'), read('hour'), read('minute'))
    return wall - Math.floor(at / minuteMs) * minuteMs
  }
  const around = (wall: number): [number, number] => {
    const middle = wall - offsetAt(wall)
    return [offsetAt(middle - 1.5 * dayMs), offsetAt(middle + 1.5 * dayMs)]
  }
  const clock: Clock = {
    offsetAt,
    instantsOf(wall) {
      const offsets = new Set(around(wall))
      return [...offsets]
        .map((offset) => ({ at: wall - offset, offset }))
        .filter(({ at, offset }) => offsetAt(at) === offset)
        .map(({ at }) => at)
        .toSorted((one, other) => one - other)
    },
    firstBehind(wall) {
      const [before, behind] = around(wall)
      // The change lies between the times at which the clock would have shown this by the one offset and by the other.
      let from = wall - Math.max(before, behind) - minuteMs
      let until = wall - Math.min(before, behind)
      while (until - from > minuteMs) {
        const middle = from + Math.floor((until - from) / 2 / minuteMs) * minuteMs
        if (offsetAt(middle) === before) from = middle
        else until = middle
      }
      return until
    },
  }
  clocks.set(zone, clock)
  return clock
}
