import type { Overview } from '../api.ts'
import { Table } from '../parts/table.tsx'
import { showNumber } from '../parts/text.tsx'
import { BarChart } from './bar-chart.tsx'

type Time = Overview['times'][number]
/** A part of the time, with a name. */
interface Part extends Time {
  readonly name: string
}

interface Series {
  readonly title: string
  readonly kind: 'all' | 'bad' | 'open'
  readonly of: (time: Time) => number | undefined
  readonly show: (value: number) => string
}

const series: readonly Series[] = [
  { title: 'Calls', kind: 'all', of: ({ calls }) => calls, show: showNumber },
  { title: 'Denied', kind: 'bad', of: ({ denied }) => denied, show: showNumber },
  { title: 'Failed', kind: 'bad', of: ({ failed }) => failed, show: showNumber },
  { title: 'Questions that waited', kind: 'open', of: ({ waited }) => waited, show: showNumber },
]
const ofRuns: readonly Series[] = [
  { title: 'Tokens of runs', kind: 'all', of: ({ tokens }) => tokens, show: showNumber },
  { title: 'Cost of runs', kind: 'all', of: ({ cost }) => cost, show: showCost },
]

/** An amount of money. */
export function showCost(cost: number): string {
  return cost.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: cost < 0.1 ? 4 : 2 })
}

/** What happened in each part of a time, as charts and as a table. Of more than two days, each part is a day. */
export function OverTime({ times }: Pick<Overview, 'times'>) {
  const parts = toParts(times)
  // Of what is known of some parts only, a chart would show less than there was.
  const known = series.filter(({ of }) => parts.every((part) => of(part) !== undefined))
  const shown = times.some(({ runs }) => runs > 0) ? [...known, ...ofRuns] : known
  return (
    <>
      <div class="charts">
        {shown.map(({ title, kind, of, show }) => (
          <BarChart
            key={title}
            title={title}
            kind={kind}
            show={show}
            // A question that waits for long is one in each part.
            total={kind === 'open' ? '' : show(parts.reduce((sum, part) => sum + (of(part) ?? 0), 0))}
            bars={parts.map((part) => ({ name: part.name, value: of(part) ?? 0 }))}
          />
        ))}
      </div>
      <details>
        <summary>The charts as a table</summary>
        <Table
          label="Over time"
          columns={['Time', ...shown.map(({ title }) => [title, 'number'] as const)]}
          rows={parts.toReversed().map((part) => ({
            key: String(part.at),
            cells: [part.name, ...shown.map(({ of, show }) => show(of(part) ?? 0))],
          }))}
        />
      </details>
    </>
  )
}

const hourMs = 3_600_000

function toParts(times: readonly Time[]): readonly Part[] {
  const length = (times[1]?.at ?? 0) - (times[0]?.at ?? 0)
  const isLong = length >= hourMs && times.length > 48
  const groups = isLong
    ? [...Map.groupBy(times, ({ at }) => new Date(at).toDateString()).values()]
    : times.map((time) => [time])
  const format = new Intl.DateTimeFormat('en-GB', formatOf(isLong, length))
  return groups.flatMap((group) => {
    const [first] = group
    return first === undefined ? [] : [{ ...group.reduce(add), at: first.at, name: format.format(first.at) }]
  })
}

function formatOf(isLong: boolean, length: number): Intl.DateTimeFormatOptions {
  if (isLong) return { weekday: 'short', day: 'numeric', month: 'short' }
  const clock = { hour: '2-digit', minute: '2-digit' } as const
  if (length >= hourMs) return { weekday: 'short', ...clock }
  return length < 60_000 ? { ...clock, second: '2-digit' } : clock
}

/** Without what is not known of each day. */
function add(one: Time, other: Time): Time {
  return {
    at: one.at,
    calls: one.calls + other.calls,
    ok: one.ok + other.ok,
    denied: one.denied + other.denied,
    failed: one.failed + other.failed,
    aborted: one.aborted + other.aborted,
    open: one.open + other.open,
    runs: one.runs + other.runs,
    tokens: one.tokens + other.tokens,
    cost: one.cost + other.cost,
  }
}
