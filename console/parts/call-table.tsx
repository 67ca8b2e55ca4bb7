import { showDuration } from '../../src/kit/time/show-duration.ts'
import type { CallRow } from '../api.ts'
import { TableHead } from './table-head.tsx'
import { Outcome, When } from './text.tsx'

/** Calls, in the order in which they are given. */
export function CallTable({ calls, label }: { calls: readonly CallRow[]; label: string }) {
  if (calls.length === 0) return <p class="empty">No calls.</p>
  return (
    <table aria-label={label}>
      <TableHead columns={['When', 'Outcome', 'Tool', 'Who', ['Took', 'number']]} />
      <tbody>
        {calls.map((call) => (
          <tr key={`${call.tenant} ${call.call}`}>
            <td>
              <When at={call.at} />
            </td>
            <td>
              <Outcome outcome={call.outcome} reason={call.reason} />
            </td>
            <td>
              <a href={`/calls/${encodeURIComponent(call.call)}`}>{call.tool}</a>
            </td>
            <td>
              {call.actor} <small>{call.role}</small>
            </td>
            <td class="number">{call.durationMs === undefined ? '' : showDuration(call.durationMs)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
