import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

const now = signal(Date.now())
let watchers = 0
let ticking: ReturnType<typeof setInterval> | undefined

/** One clock for all that count down. */
function useClock(): number {
  useEffect(() => {
    watchers++
    now.value = Date.now()
    ticking ??= setInterval(() => (now.value = Date.now()), 1_000)
    return () => {
      if (--watchers > 0) return
      clearInterval(ticking)
      ticking = undefined
    }
  }, [])
  return now.value
}

/** How long there is still time, to the second, always as wide as it was. The exact end stands in its title. */
export function Countdown({ until }: { until: number }) {
  const left = Math.max(0, until - useClock())
  const exact = new Date(until).toISOString()
  return (
    <time class={left < 60_000 ? 'countdown warn' : 'countdown'} dateTime={exact} title={`until ${exact}`}>
      {toClock(left)}
    </time>
  )
}

/** Such as `4:05` or `1:02:03`; days in words. */
export function toClock(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  const [days, hours, minutes] = [
    Math.floor(seconds / 86_400),
    Math.floor(seconds / 3_600) % 24,
    Math.floor(seconds / 60) % 60,
  ]
  const two = (figure: number): string => String(figure).padStart(2, '0')
  if (days > 0) return `${days} d ${hours} h`
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`
}
