import { keepQuery, query } from '../route.ts'
import { useKept } from './use-kept.ts'

/** Where a list begins, as the address of its page says it; what is absent says nothing. */
export interface Place {
  readonly tenant?: string | undefined
  /** A time, as ISO 8601 has it. */
  readonly until?: string | undefined
  /** The number of a record in its chain. */
  readonly record?: string | undefined
}

/** What the address of the page says of these names. */
export function readQuery<Name extends string>(
  names: readonly Name[],
): { readonly [name in Name]?: string | undefined } {
  const given = new URLSearchParams(query.value)
  const found: { [name in Name]?: string } = {}
  for (const name of names) {
    const value = given.get(name)
    if (value !== null) found[name] = value
  }
  return found
}

/** As the API takes it: times in milliseconds since the epoch. */
export function toApiQuery({ until, ...sought }: Place): string {
  const said = Object.entries({ ...sought, until: until && String(Date.parse(until)) })
  const given = new URLSearchParams(
    said.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
  return given.size === 0 ? '' : `?${given.toString()}`
}

interface JumpBarProps<Shown extends Place> {
  /** All that the address says of the page. */
  readonly shown: Shown
  /** The chains that there are, if it is of one. A number of another one says nothing. */
  readonly chains?: readonly string[]
}

/** Lets a list begin at a time, or at a record. The address keeps it. */
export function JumpBar<Shown extends Place>({ shown, chains = [] }: JumpBarProps<Shown>) {
  const { until, record, tenant } = shown
  const [time, number] = [useKept(toLocal(until)), useKept(record ?? '')]
  const jump = (event: SubmitEvent): void => {
    event.preventDefault()
    const [wantedTime, wantedRecord] = [time.current?.value ?? '', number.current?.value ?? '']
    // Of both, the one that was changed is meant.
    const isTime = wantedTime !== '' && (wantedRecord === '' || wantedTime !== toLocal(until))
    keepQuery({
      ...shown,
      until: isTime ? new Date(wantedTime).toISOString() : undefined,
      record: isTime || wantedRecord === '' ? undefined : wantedRecord,
    })
  }
  return (
    <form class="bar" aria-label="Go to a time or a record" onSubmit={jump}>
      {chains.length > 1 && (
        <label>
          Chain{' '}
          <select value={tenant} onChange={(event) => keepQuery({ tenant: event.currentTarget.value })}>
            {chains.map((each) => (
              <option key={each} value={each}>
                {each === '' ? 'all tenants' : each}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        Before <input ref={time} name="until" type="datetime-local" step="1" />
      </label>
      <label>
        or from record <input ref={number} class="record" name="record" type="number" min="1" step="1" />
      </label>
      <button type="submit">Go</button>
      {(until ?? record) !== undefined && (
        <button type="button" onClick={() => keepQuery({ ...shown, until: undefined, record: undefined })}>
          Newest
        </button>
      )}
    </form>
  )
}

/** A time as a field for local times has it. */
function toLocal(time: string | undefined): string {
  const date = new Date(time ?? Number.NaN)
  if (Number.isNaN(date.getTime())) return ''
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
}
