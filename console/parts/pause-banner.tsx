import { mayOperate, type PauseRow } from '../api.ts'
import { pauses } from '../events.ts'
import { Fault } from './fault.tsx'
import { When } from './text.tsx'
import { useChange } from './use-change.ts'

/** What is paused, on every page, as long as anything is. */
export function PauseBanner() {
  const change = useChange()
  if (pauses.value.length === 0) return null
  return (
    <section class="paused" aria-label="Paused">
      <ul class="list">
        {pauses.value.map((pause) => (
          <li key={pause.id}>
            <strong>Paused: {describe(pause)}</strong> by {pause.by}, <When at={pause.at} />
            {pause.why !== undefined && `: ${pause.why}`}{' '}
            {mayOperate() && (
              <button
                type="button"
                disabled={change.isBusy}
                onClick={() => void change.make(`/api/pauses/${encodeURIComponent(pause.id)}/resume`, {})}
              >
                Resume {describe(pause)}
              </button>
            )}
          </li>
        ))}
      </ul>
      <Fault text={change.fault} />
    </section>
  )
}

function describe({ tools, server, actor, tenant }: PauseRow): string {
  const parts = [
    ...(tools === undefined ? [] : [tools]),
    ...(server === undefined ? [] : [`the server ${server}`]),
    ...(actor === undefined ? [] : [`calls of ${actor}`]),
    ...(tenant === undefined ? [] : [`the tenant ${tenant}`]),
  ]
  return parts.length === 0 ? 'everything' : parts.join(', ')
}
