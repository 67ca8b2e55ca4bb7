import { showDuration } from '../../src/kit/time/show-duration.ts'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Overview } from '../api.ts'
import { Fault } from '../parts/fault.tsx'
import { Table } from '../parts/table.tsx'
import { showNumber, When } from '../parts/text.tsx'
import { useAsked } from '../parts/use-asked.ts'

const ranges = [
  [15, 'the last 15 minutes'],
  [60, 'the last hour'],
  [24 * 60, 'the last day'],
  [7 * 24 * 60, 'the last 7 days'],
  [31 * 24 * 60, 'the last 31 days'],
] as const

/** What `/api/health` says. */
interface Health {
  readonly troubles: readonly string[]
  readonly findings: readonly { readonly id: string; readonly holds: boolean; readonly detail: string }[]
}

/** How soon it is asked for more, as long as not all is counted. */
const nextMs = 50

/** What happened within a time, in numbers, and what is wrong now. */
export function OverviewPage() {
  const minutes = useSignal(60)
  const { answer, fault, again } = useAsked<Overview>(`/api/overview?minutes=${minutes.value}`)
  useEffect(() => {
    if (answer === undefined || answer.isWhole) return undefined
    const timer = setTimeout(again, nextMs)
    return () => clearTimeout(timer)
  }, [answer])
  return (
    <>
      <h1>Overview</h1>
      <HealthList />
      <div class="bar">
        <label>
          Within{' '}
          <select
            value={minutes.value}
            onChange={(event) => (minutes.value = Number(event.currentTarget.value))}
          >
            {ranges.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" onClick={again}>
          Look again
        </button>
        <span role="status">{answer?.isWhole === false && 'Counting…'}</span>
      </div>
      <Fault text={fault} />
      {answer !== undefined && <Numbers {...answer} />}
    </>
  )
}

function HealthList() {
  const { answer, fault } = useAsked<Health>('/api/health')
  const bad = answer?.findings.filter(({ holds }) => !holds) ?? []
  return (
    <div class="health">
      <Fault text={fault} />
      {answer?.troubles.length === 0 ? (
        <p class="good">The store takes records.</p>
      ) : (
        answer?.troubles.map((trouble) => <Fault key={trouble} text={trouble} />)
      )}
      {bad.map(({ id, detail }) => (
        <Fault key={id} text={`${id}: ${detail}`} />
      ))}
      {answer !== undefined && answer.findings.length > 0 && (
        <details>
          <summary>
            What <code>handrail doctor</code> says of the home folder: {answer.findings.length - bad.length}{' '}
            of {answer.findings.length} hold
          </summary>
          <ul>
            {answer.findings.map(({ id, holds, detail }) => (
              <li key={id} class={holds ? '' : 'danger'}>
                <strong>{id}</strong> {holds ? 'holds' : 'does not hold'}: {detail}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}

function Numbers({ counts, approvals, spend, times, tools }: Overview) {
  return (
    <>
      <ul class="figures" aria-label="Figures">
        <Figure name="Calls" value={counts.calls} />
        <Figure name="Denied" value={counts.denied} />
        <Figure name="Failed" value={counts.failed} />
        <Figure name="Aborted" value={counts.aborted} />
        <Figure name="Open" value={counts.open} />
        <Figure name="Waiting now" value={approvals.waiting} />
        <Figure
          name="Median wait for an answer"
          value={approvals.medianMs === undefined ? '–' : showDuration(approvals.medianMs)}
        />
        <Figure
          name="Longest wait for an answer"
          value={approvals.longestMs === undefined ? '–' : showDuration(approvals.longestMs)}
        />
        <Figure name="Runs" value={spend.runs} />
        <Figure name="Tokens of runs" value={spend.tokens} />
        <Figure name="Cost of runs" value={spend.cost === 0 ? '–' : spend.cost.toFixed(2)} />
      </ul>
      <div class="charts">
        <Bars times={times} name="Calls" of={({ calls }) => calls} kind="all" />
        <Bars times={times} name="Denied" of={({ denied }) => denied} kind="bad" />
        <Bars times={times} name="Failed" of={({ failed }) => failed} kind="bad" />
      </div>
      <h2>Tools</h2>
      {tools.length === 0 ? <p class="empty">No calls in this time.</p> : <ToolTable tools={tools} />}
    </>
  )
}

function Figure({ name, value }: { name: string; value: number | string }) {
  return (
    <li>
      <strong>{typeof value === 'number' ? showNumber(value) : value}</strong> <small>{name}</small>
    </li>
  )
}

interface BarsProps extends Pick<Overview, 'times'> {
  readonly name: string
  readonly of: (time: Overview['times'][number]) => number
  readonly kind: 'all' | 'bad'
}

/** A bar for each part of the time; the table of tools has the same in numbers. */
function Bars({ times, name, of, kind }: BarsProps) {
  const top = Math.max(1, ...times.map(of))
  const width = 100 / Math.max(1, times.length)
  const [first] = times
  return (
    <figure class="bars">
      <svg
        viewBox="0 0 100 30"
        preserveAspectRatio="none"
        role="img"
        aria-label={`${name} over time, ${top} at most in one bar`}
      >
        {times.map((time, index) => {
          const height = (of(time) / top) * 30
          return (
            <rect
              key={time.at}
              class={kind}
              x={index * width}
              y={30 - height}
              width={width * 0.8}
              height={height}
            />
          )
        })}
      </svg>
      <figcaption>
        <small>
          {name} since {first !== undefined && <When at={first.at} />}; {showNumber(top)} at most in one bar
        </small>
      </figcaption>
    </figure>
  )
}

function ToolTable({ tools }: Pick<Overview, 'tools'>) {
  return (
    <Table
      label="Tools"
      columns={['Tool', ['Calls', 'number'], ['Denied', 'number'], ['Failed', 'number'], ['p95', 'number']]}
      rows={tools.map(({ tool, calls, denied, failed, p95Ms }) => ({
        key: tool,
        cells: [
          <a href={`/tools/${encodeURIComponent(tool)}`}>{tool}</a>,
          showNumber(calls),
          <span class={denied > 0 ? 'danger' : undefined}>{showNumber(denied)}</span>,
          <span class={failed > 0 ? 'danger' : undefined}>{showNumber(failed)}</span>,
          p95Ms === undefined ? '–' : showDuration(p95Ms),
        ],
      }))}
    />
  )
}
