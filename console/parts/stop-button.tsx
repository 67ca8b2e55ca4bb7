import { useSignal } from '@preact/signals'
import { mayOperate, operatedTenants, type AbortedRow } from '../api.ts'
import { Fault } from './fault.tsx'
import { useChange } from './use-change.ts'

interface Stop {
  /** What is stopped, in words. */
  readonly what: string
  /** As `/api/pauses` takes it. */
  readonly scope: Readonly<Record<string, string | boolean>>
}

/** Pauses something, once that was confirmed, and aborts what of it runs: in the tenants in which the person may, which it names unless it is all of them. */
export function StopButton({ what: meant, scope }: Stop) {
  const isAsking = useSignal(false)
  const why = useSignal('')
  const aborts = useSignal(true)
  const said = useSignal('')
  const change = useChange()
  const scopes = scopesOf(scope)
  if (scopes.length === 0) return null
  const places = scopes.flatMap(({ tenant }) => (tenant === scope['tenant'] ? [] : [tenant]))
  const what = places.length === 0 ? meant : `${meant} in ${places.join(' and ')}`
  const stop = async (): Promise<void> => {
    const how = { abort: aborts.value, ...(why.value.trim() !== '' && { why: why.value.trim() }) }
    const aborted: AbortedRow[] = []
    let unknown = ''
    for (const each of scopes) {
      const answer = await change.make<{ readonly aborted?: AbortedRow; readonly unknown?: string }>(
        '/api/pauses',
        { ...each, ...how },
      )
      if (answer === undefined) return
      if (answer.unknown !== undefined) unknown = ` ${answer.unknown}`
      if (answer.aborted !== undefined) aborted.push(answer.aborted)
    }
    isAsking.value = false
    why.value = ''
    const all = {
      calls: aborted.flatMap(({ calls }) => calls),
      running: aborted.flatMap(({ running }) => running),
    }
    said.value = `Stopped${aborted.length === 0 ? '' : `, ${describeAborted(all)}`}.${unknown}`
  }
  return (
    <div class="stop">
      {isAsking.value ? (
        <form
          class="bar"
          aria-label={`Stop ${what}`}
          onSubmit={(event) => {
            event.preventDefault()
            void stop()
          }}
        >
          <label>
            Why{' '}
            <input
              // It was asked for by a press just now.
              // oxlint-disable-next-line jsx-a11y/no-autofocus
              autoFocus
              value={why.value}
              maxLength={1_000}
              placeholder="told to who calls"
              onInput={(event) => (why.value = event.currentTarget.value)}
            />
          </label>
          <label>
            <input
              type="checkbox"
              checked={aborts.value}
              onChange={(event) => (aborts.value = event.currentTarget.checked)}
            />{' '}
            Abort what runs
          </label>
          <button type="submit" class="deny" disabled={change.isBusy}>
            Stop {what} now
          </button>
          <button type="button" onClick={() => (isAsking.value = false)}>
            Cancel
          </button>
        </form>
      ) : (
        <button type="button" class="deny" onClick={() => (isAsking.value = true)}>
          Stop {what}…
        </button>
      )}
      <span role="status">{said.value}</span>
      <Fault text={change.fault} />
    </div>
  )
}

/** What the person may stop of it, as one change for each tenant. */
function scopesOf(scope: Stop['scope']): readonly Stop['scope'][] {
  const { tenant } = scope
  if (tenant !== undefined) return mayOperate(String(tenant)) ? [scope] : []
  return operatedTenants()?.map((each) => ({ ...scope, tenant: each })) ?? [scope]
}

/** What became of calls that were told to end. */
export function describeAborted({ calls, running }: AbortedRow): string {
  const left = running.length === 0 ? '' : `, ${running.length} had not ended in time`
  return calls.length === 0 && left === '' ? 'nothing of it ran' : `${calls.length} aborted${left}`
}
