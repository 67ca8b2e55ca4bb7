import { matchPattern } from '../../src/kit/match/match-pattern.ts'
import { me } from '../api.ts'
import { keepQuery } from '../route.ts'
import { readQuery, toApiQuery, type Place } from './jump-bar.tsx'
import { useKept } from './use-kept.ts'

/** Which calls are looked for in the store, as the address of the page says it; what is absent says nothing. */
export interface Sought extends Place {
  readonly tool?: string | undefined
  readonly actor?: string | undefined
  readonly session?: string | undefined
  readonly outcome?: string | undefined
  readonly minutes?: string | undefined
}

/** What the address says of that. */
export function readSought(): Sought {
  return readQuery(['tool', 'actor', 'session', 'tenant', 'outcome', 'minutes', 'until', 'record'])
}

const outcomes = ['ok', 'failed', 'denied', 'aborted', 'unknown', 'running'] as const
/** Times that a person may look back, in minutes. */
export const ranges = [
  [15, 'the last 15 minutes'],
  [60, 'the last hour'],
  [24 * 60, 'the last day'],
  [7 * 24 * 60, 'the last 7 days'],
  [31 * 24 * 60, 'the last 31 days'],
] as const
const names = [
  ['tool', 'Tool', 'code.* or a name'],
  ['actor', 'Actor', ''],
  ['session', 'Session', ''],
  ['tenant', 'Tenant', ''],
] as const

/** As `/api/calls` takes it. */
export function toQuery({ minutes, ...sought }: Sought): string {
  const since = minutes && String(Math.floor(Date.now() / 60_000 - Number(minutes)) * 60_000)
  return toApiQuery({ ...sought, ...(since && { since }) })
}

/** Whether a call that begins now belongs into what is looked for. */
export function isFor(
  { tool, actor, session, tenant, outcome, until, record }: Sought,
  call: { readonly tool: string; readonly actor: string; readonly session: string; readonly tenant: string },
): boolean {
  return (
    (until ?? record) === undefined &&
    (!tool || matchPattern(tool, call.tool)) &&
    (!actor || actor === call.actor) &&
    (!session || session === call.session) &&
    (!tenant || tenant === call.tenant) &&
    (!outcome || outcome === 'running')
  )
}

/** Looks calls up in the store: all that there ever were. */
export function CallSearch({ sought }: { sought: Sought }) {
  const set = (name: keyof Sought, value: string): void =>
    keepQuery({ ...readSought(), [name]: value.trim() === '' ? undefined : value.trim() })
  const seesMany = (me.value?.roles.length ?? 0) > 1 || me.value?.tenant === undefined
  return (
    <search class="bar">
      {names
        .filter(([name]) => name !== 'tenant' || seesMany)
        .map(([name, label, placeholder]) => (
          <Field
            key={name}
            label={label}
            value={sought[name] ?? ''}
            placeholder={placeholder}
            onWritten={(value) => set(name, value)}
          />
        ))}
      <label>
        Outcome{' '}
        <select value={sought.outcome ?? ''} onChange={(event) => set('outcome', event.currentTarget.value)}>
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
        <select value={sought.minutes ?? ''} onChange={(event) => set('minutes', event.currentTarget.value)}>
          <option value="">all time</option>
          {ranges.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      </label>
    </search>
  )
}

interface FieldProps {
  readonly label: string
  readonly value: string
  readonly placeholder: string
  readonly onWritten: (value: string) => void
}

function Field({ label, value, placeholder, onWritten }: FieldProps) {
  return (
    <label>
      {label}{' '}
      <input
        ref={useKept(value)}
        placeholder={placeholder}
        onChange={(event) => onWritten(event.currentTarget.value)}
      />
    </label>
  )
}
