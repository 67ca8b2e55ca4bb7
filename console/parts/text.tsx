import type { Json } from '../api.ts'
import { clockAhead } from '../events.ts'
import { now } from './clock.ts'

/** When something was, relative to now; the exact time stands in its title. */
export function When({ at }: { at: number }) {
  const exact = new Date(at).toISOString()
  return (
    <time dateTime={exact} title={exact}>
      {toAge(now.value + clockAhead.value - at)}
    </time>
  )
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const

/** Such as `3 min ago` or `in 40 s`. */
export function toAge(ms: number): string {
  const size = Math.abs(ms)
  if (size < 1_000) return 'now'
  const [unit, length] = units.find(([, each]) => size >= each) ?? ['s', 1_000]
  const text = `${Math.floor(size / length)} ${unit}`
  return ms < 0 ? `in ${text}` : `${text} ago`
}

/** How a call stands, in a colour of its own and in a word. */
export function Outcome({ outcome, reason }: { outcome: string; reason?: string | undefined }) {
  return (
    <span class={`outcome ${outcome}`}>
      {outcome}
      {reason !== undefined && outcome !== 'ok' && <small> {toWords(reason)}</small>}
    </span>
  )
}

/** Such as `rule denied` of `rule_denied`. */
export function toWords(code: string): string {
  return code.replaceAll('_', ' ')
}

/** Such as `1 call` and `2,000 calls`. */
export function countOf(count: number, what: string): string {
  return `${showNumber(count)} ${what}${count === 1 ? '' : 's'}`
}

/** Such as `996,532`. */
export function showNumber(number: number): string {
  return number.toLocaleString('en')
}

/** A value as text. What a model or a tool said is never anything else. */
export function Value({ value, label }: { value: Json | object; label: string }) {
  return (
    // It may be wider than the page, so that a keyboard has to reach it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre class="value" tabIndex={0} role="group" aria-label={label}>
      {typeof value === 'string' ? value : showJson(value)}
    </pre>
  )
}

const longestLine = 80

/** As `JSON.stringify` with an indent, but that a short list or object stands on one line. */
function showJson(value: unknown, indent = ''): string {
  const short = JSON.stringify(value) ?? 'null'
  if (typeof value !== 'object' || value === null) return short
  const isFlat = Object.values(value).every((each) => typeof each !== 'object' || each === null)
  if (Array.isArray(value) ? isFlat && indent.length + short.length <= longestLine : short === '{}')
    return short.replaceAll('","', '", "')
  const inner = `${indent}  `
  const lines = Array.isArray(value)
    ? value.map((each) => `${inner}${showJson(each, inner)}`)
    : Object.entries(value).flatMap(([name, each]) =>
        each === undefined ? [] : [`${inner}${JSON.stringify(name)}: ${showJson(each, inner)}`],
      )
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`
}
