import type { Signal } from '@preact/signals'
import { matchPattern } from '../../src/kit/match/match-pattern.ts'

/** Which calls are looked for in the store; what is absent says nothing. */
export interface Sought {
  readonly tool?: string
  readonly actor?: string
  readonly session?: string
  readonly outcome?: string
  readonly minutes?: string
}

const outcomes = ['ok', 'failed', 'denied', 'aborted', 'unknown', 'running'] as const
const times = [
  ['60', 'the last hour'],
  ['1440', 'the last day'],
  ['10080', 'the last 7 days'],
] as const
const names = [
  ['tool', 'Tool', 'code.* or a name'],
  ['actor', 'Actor', ''],
  ['session', 'Session', ''],
] as const

/** As `/api/calls` takes it. */
export function toQuery({ minutes, ...sought }: Sought): string {
  const query = new URLSearchParams(Object.entries(sought).filter(([, value]) => value !== ''))
  if (minutes !== undefined && minutes !== '')
    query.set('since', String(Math.floor(Date.now() / 60_000 - Number(minutes)) * 60_000))
  return query.size === 0 ? '' : `?${query.toString()}`
}

/** Whether a call that begins now belongs into what is looked for. */
export function isFor(
  { tool, actor, session, outcome }: Sought,
  call: { readonly tool: string; readonly actor: string; readonly session: string },
): boolean {
  return (
    (!tool || matchPattern(tool, call.tool)) &&
    (!actor || actor === call.actor) &&
    (!session || session === call.session) &&
    (!outcome || outcome === 'running')
  )
}

/** Looks calls up in the store: all that there ever were. */
export function CallSearch({ sought }: { sought: Signal<Sought> }) {
  const set = (name: keyof Sought, value: string): void => {
    sought.value = { ...sought.value, [name]: value.trim() }
  }
  return (
    <search class="bar">
      {names.map(([name, label, placeholder]) => (
        <label key={name}>
          {label}{' '}
          <input
            value={sought.value[name] ?? ''}
            placeholder={placeholder}
            onChange={(event) => set(name, event.currentTarget.value)}
          />
        </label>
      ))}
      <label>
        Outcome{' '}
        <select
          value={sought.value.outcome ?? ''}
          onChange={(event) => set('outcome', event.currentTarget.value)}
        >
          <option value="">any</option>
          {outcomes.map((outcome) => (
            <option key={outcome} value={outcome}>
              {outcome}
            </option>
          ))}
        </select>
      </label>
      <label>
        Time{' '}
        <select
          value={sought.value.minutes ?? ''}
          onChange={(event) => set('minutes', event.currentTarget.value)}
        >
          <option value="">all time</option>
          {times.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </search>
  )
}
