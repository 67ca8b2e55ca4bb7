import { showDuration } from '../../src/kit/time/show-duration.ts'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Overview } from '../api.ts'
import { OverTime, showCost } from '../charts/over-time.tsx'
import { ranges } from '../parts/call-search.tsx'
import { Fault } from '../parts/fault.tsx'
import { Table } from '../parts/table.tsx'
import { showNumber } from '../parts/text.tsx'
import { useAsked } from '../parts/use-asked.ts'

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
  const { answer, fault, isLate, again } = useAsked<Overview>(`/api/overview?minutes=${minutes.value}`)
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
        <span role="status">{(isLate || answer?.isWhole === false) && 'Counting…'}</span>
      </div>
      <Fault text={fault} />
      {answer !== undefined && <Numbers {...answer} minutes={minutes.value} />}
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

function Numbers({ counts, approvals, spend, times, tools, minutes }: Overview & { minutes: number }) {
  return (
    <>
      <ul class="figures" aria-label="Figures">
        <Figure name="Calls" value={counts.calls} to={toCalls(minutes)} />
        <Figure name="Denied" value={counts.denied} to={toCalls(minutes, 'denied')} />
        <Figure name="Failed" value={counts.failed} to={toCalls(minutes, 'failed')} />
        <Figure name="Aborted" value={counts.aborted} to={toCalls(minutes, 'aborted')} />
        <Figure name="Open" value={counts.open} />
        <Figure name="Waiting now" value={approvals.waiting} to="/inbox" />
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
        <Figure name="Cost of runs" value={spend.cost === 0 ? '–' : showCost(spend.cost)} />
      </ul>
      {!spend.isWhole && (
        <p class="warn">Of the runs of this time, the newest 500 of each tenant are counted.</p>
      )}
      <OverTime times={times} />
      <h2>Tools</h2>
      {tools.length === 0 ? <p class="empty">No calls in this time.</p> : <ToolTable tools={tools} />}
    </>
  )
}

interface FigureProps {
  readonly name: string
  readonly value: number | string
  /** The page that has what is counted. */
  readonly to?: string
}

function Figure({ name, value, to }: FigureProps) {
  const shown = <strong>{typeof value === 'number' ? showNumber(value) : value}</strong>
  return (
    <li>
      {shown} <small>{to === undefined ? name : <a href={to}>{name}</a>}</small>
    </li>
  )
}

/** The page of the calls of a time. */
function toCalls(minutes: number, outcome?: string): string {
  return `/live?minutes=${minutes}${outcome === undefined ? '' : `&outcome=${outcome}`}`
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
