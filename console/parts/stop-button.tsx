import { useSignal } from '@preact/signals'
import { mayOperate, type AbortedRow } from '../api.ts'
import { Fault } from './fault.tsx'
import { useChange } from './use-change.ts'

interface Stop {
  /** What is stopped, in words. */
  readonly what: string
  /** As `/api/pauses` takes it. */
  readonly scope: Readonly<Record<string, string | boolean>>
}

/** Pauses something, once that was confirmed, and aborts what of it runs. */
export function StopButton({ what, scope }: Stop) {
  const isAsking = useSignal(false)
  const why = useSignal('')
  const aborts = useSignal(true)
  const said = useSignal('')
  const change = useChange()
  if (!mayOperate()) return null
  const stop = async (): Promise<void> => {
    const body = { ...scope, abort: aborts.value, ...(why.value.trim() !== '' && { why: why.value.trim() }) }
    const answer = await change.make<{ readonly aborted?: AbortedRow }>('/api/pauses', body)
    if (answer === undefined) return
    isAsking.value = false
    why.value = ''
    said.value = `Stopped${answer.aborted === undefined ? '' : `, ${describeAborted(answer.aborted)}`}.`
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

/** What became of calls that were told to end. */
export function describeAborted({ calls, running }: AbortedRow): string {
  const left = running.length === 0 ? '' : `, ${running.length} had not ended in time`
  return calls.length === 0 && left === '' ? 'nothing of it ran' : `${calls.length} aborted${left}`
}
