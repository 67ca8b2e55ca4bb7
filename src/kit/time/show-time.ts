/** A time as the clock on the wall of a zone shows it, with how far that is ahead of UTC. */
export function showTime(at: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'longOffset',
  })
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]))
  const read = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? ''
  return `${read('weekday')} ${read('year')}-${read('month')}-${read('day')} ${read('hour')}:${read('minute')} ${read('timeZoneName')}`
}
