import { clockAhead } from '../../events.ts'
import { now } from '../clock.ts'

/** How long is left until then, in a place that is as wide all the time. */
export function Countdown({ until }: { until: number }) {
  const left = until - now.value - clockAhead.value
  const exact = new Date(until).toISOString()
  return (
    <time
      class={`countdown${left < 60_000 ? ' danger' : ''}`}
      role="timer"
      dateTime={exact}
      title={exact}
      aria-label={`${toLeft(left)} left`}
    >
      {toLeft(left)}
    </time>
  )
}

/** Such as `23 h 05 min` and `4:09`. */
function toLeft(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000))
  const two = (count: number): string => String(count).padStart(2, '0')
  return seconds >= 3_600
    ? `${Math.floor(seconds / 3_600)} h ${two(Math.floor(seconds / 60) % 60)} min`
    : `${Math.floor(seconds / 60)}:${two(seconds % 60)}`
}
