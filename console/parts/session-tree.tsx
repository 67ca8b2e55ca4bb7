import { useEffect } from 'preact/hooks'
import type { CallRow, SessionRow } from '../api.ts'
import { onRecord } from '../events.ts'
import { Fault } from './fault.tsx'
import { Outcome, When } from './text.tsx'
import { useAsked } from './use-asked.ts'

/** How long what happens is gathered before the tree is asked for again. */
const gatherMs = 1_000

/** The sessions that work, each below the one that opened it, and what each does now. */
export function SessionTree() {
  const { answer, fault, again } = useAsked<{ readonly sessions: readonly SessionRow[] }>('/api/sessions')
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const end = onRecord(() => {
      timer ??= setTimeout(() => {
        timer = undefined
        again()
      }, gatherMs)
    })
    return () => {
      clearTimeout(timer)
      end()
    }
  }, [])
  const sessions = answer?.sessions ?? []
  const names = new Set(sessions.map(({ session }) => session))
  const tops = sessions.filter(({ parent }) => parent === undefined || !names.has(parent))
  return (
    <details>
      <summary>
        Sessions of the last hour: {sessions.length}, {sessions.filter(({ open }) => open.length > 0).length}{' '}
        at work
      </summary>
      <Fault text={fault} />
      <Branch rows={tops} all={sessions} />
    </details>
  )
}

function Branch({ rows, all }: { rows: readonly SessionRow[]; all: readonly SessionRow[] }) {
  if (rows.length === 0) return null
  return (
    <ul class="tree">
      {rows.map((row) => (
        <li key={`${row.tenant} ${row.session}`}>
          <strong>{row.agent ?? row.actor}</strong> <small>{row.role}</small>{' '}
          {row.run === undefined ? (
            <code>{row.session}</code>
          ) : (
            <a href={`/runs/${encodeURIComponent(row.run)}`}>{row.run}</a>
          )}{' '}
          {row.state !== undefined && <small>{row.state}</small>}
          {row.open.length === 0 ? (
            <small>
              {' '}
              · last <Doing call={row.last} />
            </small>
          ) : (
            row.open.map((call) => <Doing key={call.call} call={call} />)
          )}
          <Branch rows={all.filter(({ parent }) => parent === row.session)} all={all} />
        </li>
      ))}
    </ul>
  )
}

function Doing({ call }: { call: CallRow }) {
  return (
    <span>
      {' '}
      <a href={`/calls/${encodeURIComponent(call.call)}`}>{call.tool}</a>{' '}
      <Outcome outcome={call.outcome} reason={call.reason} /> <When at={call.at} />
    </span>
  )
}
