import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask, type CallRow } from '../api.ts'
import { onRecord, type ToldRecord } from '../events.ts'
import { CallTable } from '../parts/call-table.tsx'
import { Fault } from '../parts/fault.tsx'

interface Page {
  readonly calls: readonly CallRow[]
  readonly next?: string
}

/** More of them would make the page slow; the ones before are a click away. */
const mostLive = 500

/** Calls as they happen, and those before. */
export function LivePage() {
  const calls = useSignal<readonly CallRow[]>([])
  const next = useSignal<string | undefined>(undefined)
  const fault = useSignal<string | undefined>(undefined)
  const filter = useSignal('')
  const isHeld = useSignal(false)
  const isLoading = useSignal(true)

  const load = async (before?: string): Promise<void> => {
    try {
      const page = await ask<Page>(`/api/calls${before === undefined ? '' : `?before=${before}`}`)
      calls.value = before === undefined ? page.calls : [...calls.value, ...page.calls]
      next.value = page.next
      fault.value = undefined
    } catch (error) {
      fault.value = error instanceof Error ? error.message : String(error)
    }
    isLoading.value = false
  }
  useEffect(() => void load(), [])
  useEffect(
    () =>
      onRecord((told) => {
        if (!isHeld.value) calls.value = take(calls.value, told)
      }),
    [],
  )
  const words = filter.value.toLowerCase().split(' ').filter(Boolean)
  const shown = calls.value.filter((call) => {
    const text =
      `${call.tool} ${call.actor} ${call.outcome} ${call.session} ${call.reason ?? ''}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
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
            if (!isHeld.value) void load()
          }}
        >
          {isHeld.value ? 'Follow' : 'Hold'}
        </button>
        <span role="status">
          {shown.length} of {calls.value.length} calls
        </span>
      </div>
      <Fault text={fault.value} />
      {isLoading.value ? <p class="empty">Loading…</p> : <CallTable calls={shown} label="Calls" />}
      {next.value !== undefined && (
        <button type="button" onClick={() => void load(next.value)}>
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
