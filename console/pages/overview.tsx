import { showDuration } from '../../src/kit/time/show-duration.ts'
import { useSignal } from '@preact/signals'
import type { Overview } from '../api.ts'
import { Fault } from '../parts/fault.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { When } from '../parts/text.tsx'
import { useAsked } from '../parts/use-asked.ts'

const ranges = [
  [15, 'the last 15 minutes'],
  [60, 'the last hour'],
  [24 * 60, 'the last day'],
  [7 * 24 * 60, 'the last 7 days'],
] as const

/** What happened within a time, in numbers, and what is wrong now. */
export function OverviewPage() {
  const minutes = useSignal(60)
  const { answer, fault, again } = useAsked<Overview>(`/api/overview?minutes=${minutes.value}`)
  return (
    <>
      <h1>Overview</h1>
      <div class="bar">
        <label>
          Of{' '}
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
      </div>
      <Fault text={fault} />
      {answer !== undefined && <Numbers {...answer} />}
    </>
  )
}

function Numbers({ counts, approvals, health, isWhole, times, tools }: Overview) {
  return (
    <>
      {health.length === 0 ? (
        <p>The store takes records.</p>
      ) : (
        health.map((trouble) => <Fault key={trouble} text={trouble} />)
      )}
      {!isWhole && <p>There were more calls than are counted: these are the last {counts.calls}.</p>}
      <ul class="figures" aria-label="Figures">
        <Figure name="Calls" value={counts.calls} />
        <Figure name="Denied" value={counts.denied} />
        <Figure name="Failed" value={counts.failed} />
        <Figure name="Aborted" value={counts.aborted} />
        <Figure name="Open" value={counts.open} />
        <Figure name="Questions that wait" value={approvals.waiting} />
        <Figure
          name="Answered after, half of them"
          value={approvals.medianMs === undefined ? '–' : showDuration(approvals.medianMs)}
        />
        <Figure
          name="Answered after, at most"
          value={approvals.longestMs === undefined ? '–' : showDuration(approvals.longestMs)}
        />
      </ul>
      <Bars times={times} />
      <h2>Tools</h2>
      {tools.length === 0 ? <p class="empty">No calls in this time.</p> : <ToolTable tools={tools} />}
    </>
  )
}

function Figure({ name, value }: { name: string; value: number | string }) {
  return (
    <li>
      <strong>{value}</strong> <small>{name}</small>
    </li>
  )
}

/** A bar for each part of the time; the table of tools has the same in numbers. */
function Bars({ times }: Pick<Overview, 'times'>) {
  const top = Math.max(1, ...times.map(({ calls }) => calls))
  const width = 100 / times.length
  const [first] = times
  return (
    <figure class="bars">
      <svg
        viewBox="0 0 100 30"
        preserveAspectRatio="none"
        role="img"
        aria-label={`Calls over time, ${top} at most in one bar`}
      >
        {times.map(({ at, calls, denied, failed }, index) => {
          const height = (calls / top) * 30
          const bad = ((denied + failed) / top) * 30
          const x = index * width
          return (
            <g key={at}>
              <rect class="all" x={x} y={30 - height} width={width * 0.8} height={height} />
              <rect class="bad" x={x} y={30 - bad} width={width * 0.8} height={bad} />
            </g>
          )
        })}
      </svg>
      <figcaption>
        <small>
          Calls from {first !== undefined && <When at={first.at} />} to now; in red those that were denied or
          failed. At most {top} in one bar.
        </small>
      </figcaption>
    </figure>
  )
}

function ToolTable({ tools }: Pick<Overview, 'tools'>) {
  return (
    <table aria-label="Tools">
      <TableHead
        columns={['Tool', ['Calls', 'number'], ['Denied', 'number'], ['Failed', 'number'], ['p95', 'number']]}
      />
      <tbody>
        {tools.map(({ tool, calls, denied, failed, p95Ms }) => (
          <tr key={tool}>
            <td>
              <a href={`/tools/${encodeURIComponent(tool)}`}>{tool}</a>
            </td>
            <td class="number">{calls}</td>
            <td class="number">{denied}</td>
            <td class="number">{failed}</td>
            <td class="number">{p95Ms === undefined ? '' : showDuration(p95Ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
