import { useEffect } from 'preact/hooks'
import type { CallRow, SessionRow } from '../api.ts'
import { onRecord, waiting } from '../events.ts'
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
    const look = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined
        again()
      }, gatherMs)
    }
    const ends = [onRecord(look), waiting.subscribe(look)]
    return () => {
      clearTimeout(timer)
      for (const end of ends) end()
    }
  }, [])
  const sessions = answer?.sessions ?? []
  const names = new Set(sessions.map(({ session }) => session))
  const tops = sessions.filter(({ parent }) => parent === undefined || !names.has(parent))
  return (
    <details>
      <summary>
        Sessions of the last hour: {sessions.length},{' '}
        {sessions.filter(({ open, waits }) => open.length + waits.length > 0).length} at work
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
          {row.open.map((call) => (
            <Doing key={call.call} call={call} />
          ))}
          {row.waits.map(({ tool, at }) => (
            <span key={`${tool} ${at}`}>
              {' '}
              <a href="/inbox">{tool}</a> <Outcome outcome="waiting" /> <When at={at} />
            </span>
          ))}
          {row.open.length + row.waits.length === 0 && row.last !== undefined && (
            <small>
              {' '}
              · last <Doing call={row.last} />
            </small>
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
