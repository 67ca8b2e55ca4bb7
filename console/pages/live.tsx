import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { CallRow } from '../api.ts'
import { onRecord, type ToldRecord } from '../events.ts'
import { CallTable } from '../parts/call-table.tsx'
import { Fault } from '../parts/fault.tsx'
import { fitsWords } from '../parts/fits-words.ts'
import { StopButton } from '../parts/stop-button.tsx'
import { usePages } from '../parts/use-pages.ts'

interface Page {
  readonly calls: readonly CallRow[]
  readonly next?: string
}

/** More of them would make the page slow; the ones before are a click away. */
const mostLive = 500

/** Calls as they happen, and those before. */
export function LivePage() {
  const { rows, fault, again, more } = usePages<Page, CallRow>('/api/calls', ({ calls }) => calls)
  const filter = useSignal('')
  const isHeld = useSignal(false)
  useEffect(
    () =>
      onRecord((told) => {
        if (!isHeld.value && rows.value !== undefined) rows.value = take(rows.value, told)
      }),
    [],
  )
  const calls = rows.value ?? []
  const shown = calls.filter(({ tool, actor, outcome, session, reason = '' }) =>
    fitsWords(filter.value, `${tool} ${actor} ${outcome} ${session} ${reason}`),
  )
  return (
    <>
      <h1>Live</h1>
      <div class="bar">
        <label>
          Filter{' '}
          <input
            value={filter.value}
            placeholder="tool, actor, outcome, session"
            onInput={(event) => (filter.value = event.currentTarget.value)}
          />
        </label>
        <button
          type="button"
          aria-pressed={isHeld.value}
          onClick={() => {
            isHeld.value = !isHeld.value
            if (!isHeld.value) again()
          }}
        >
          {isHeld.value ? 'Follow' : 'Hold'}
        </button>
        <span role="status">
          {shown.length} of {calls.length} calls
        </span>
      </div>
      <StopButton what="everything" scope={{ all: true }} />
      <Fault text={fault} />
      {rows.value === undefined && fault === undefined ? (
        <p class="empty">Loading…</p>
      ) : (
        <CallTable calls={shown} label="Calls" />
      )}
      {more !== undefined && (
        <button type="button" onClick={more}>
          Earlier calls
        </button>
      )}
    </>
  )
}

/** The calls with what a record says: a begin is a new one, an end belongs to one. */
function take(calls: readonly CallRow[], { tenant, sequence, record }: ToldRecord): readonly CallRow[] {
  if (record.kind === 'begin') {
    if (calls.some((each) => each.call === record.call && each.tenant === tenant)) return calls
    const { session, call, tool, actor, role, at } = record
    const begun = { tenant, session, call, tool, actor, role, at, sequence, outcome: 'running' }
    return [begun, ...calls].slice(0, Math.max(mostLive, calls.length))
  }
  if (record.kind !== 'end') return calls
  const { outcome, durationMs, code, reason } = record
  return calls.map((each) =>
    each.call === record.call && each.tenant === tenant
      ? {
          ...each,
          outcome,
          durationMs,
          ...(code !== undefined && { code }),
          ...(reason !== undefined && { reason }),
        }
      : each,
  )
}
