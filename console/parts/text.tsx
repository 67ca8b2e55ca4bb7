import type { Json } from '../api.ts'

/** When something was, relative to now; the exact time stands in its title. */
export function When({ at }: { at: number }) {
  const exact = new Date(at).toISOString()
  return (
    <time dateTime={exact} title={exact}>
      {toAge(Date.now() - at)}
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
  const [unit, length] = units.find(([, each]) => size >= each) ?? ['s', 1_000]
  const text = `${Math.floor(size / length)} ${unit}`
  return ms < 0 ? `in ${text}` : `${text} ago`
}

/** How a call stands, in a colour of its own and in a word. */
export function Outcome({ outcome, reason }: { outcome: string; reason?: string | undefined }) {
  return (
    <span class={`outcome ${outcome}`}>
      {outcome}
      {reason !== undefined && outcome !== 'ok' && <small> {reason}</small>}
    </span>
  )
}

/** A value as text. What a model or a tool said is never anything else. */
export function Value({ value, label }: { value: Json | object; label: string }) {
  return (
    // It may be wider than the page, so that a keyboard has to reach it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre class="value" tabIndex={0} role="group" aria-label={label}>
      {typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
    </pre>
  )
}

/** A preview; the lines of a diff in colours. */
export function Preview({ title, body }: { title: string; body: string }) {
  return (
    <div class="preview">
      <div class="preview-title">{title}</div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <pre tabIndex={0} role="group" aria-label={title}>
        {body.split('\n').map((line, index) => (
          // oxlint-disable-next-line react/no-array-index-key
          <span key={index} class={classOf(line)}>
            {line}
            {'\n'}
          </span>
        ))}
      </pre>
    </div>
  )
}

function classOf(line: string): string {
  if (line.startsWith('+')) return 'added'
  if (line.startsWith('-')) return 'removed'
  return line.startsWith('@@') ? 'hunk' : ''
}
