import type { ComponentChild } from 'preact'
import { showDuration } from '../../src/kit/time/show-duration.ts'
import type { CallRow } from '../api.ts'
import { now } from './clock.ts'
import { TableHead } from './table.tsx'
import { Outcome, toWords, When } from './text.tsx'
import { useWindow } from './use-window.ts'

/** Of every row, as the style sheet has it. */
const rowHeight = 30

interface CallTableProps {
  readonly calls: readonly CallRow[]
  readonly label: string
  /** Told when the last rows come on the screen. */
  readonly onEnd?: (() => void) | undefined
  /** Stands there if there is none. */
  readonly empty?: ComponentChild
}

/** Calls, in the order in which they are given. However many there are, only those on the screen are made. */
export function CallTable({ calls, label, onEnd, empty = 'No calls.' }: CallTableProps) {
  const { ref, window } = useWindow<HTMLTableElement>(calls.length, rowHeight, onEnd)
  if (calls.length === 0) return <p class="empty">{empty}</p>
  const { first, end } = window
  return (
    <table ref={ref} class="calls" aria-label={label} aria-rowcount={calls.length + 1}>
      <TableHead columns={['When', 'Outcome', 'Tool', 'Who', ['Took', 'number']]} />
      <tbody>
        <Gap rows={first} />
        {calls.slice(first, end).map((call, index) => (
          <Row key={`${call.tenant} ${call.call}`} call={call} place={first + index + 2} />
        ))}
        <Gap rows={calls.length - end} />
      </tbody>
    </table>
  )
}

/** One call. What reads a signal is made anew only if that or what it is given changes: not with each scrolling. */
function Row({ call, place }: { call: CallRow; place: number }) {
  void now.value
  return (
    <tr aria-rowindex={place}>
      <td>
        <When at={call.at} />
      </td>
      <td title={call.reason === undefined ? undefined : toWords(call.reason)}>
        <Outcome outcome={call.outcome} reason={call.reason} />
      </td>
      <td title={`${call.tool}, record ${call.sequence} of ${call.tenant}`}>
        <a href={`/calls/${encodeURIComponent(call.call)}`}>{call.tool}</a>
      </td>
      <td title={`${call.actor}, session ${call.session}`}>
        {call.actor} <small>{call.role}</small>
      </td>
      <td class="number">{call.durationMs === undefined ? '' : showDuration(call.durationMs)}</td>
    </tr>
  )
}

/** Where rows are that are not made. */
function Gap({ rows }: { rows: number }) {
  return rows > 0 ? <tr class="gap" aria-hidden="true" style={{ height: `${rows * rowHeight}px` }} /> : null
}
