import { useSignal } from '@preact/signals'
import type { ChainRow, NoteRow, Verified } from '../api.ts'
import { Fault } from '../parts/fault.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { When } from '../parts/text.tsx'
import { useAsked } from '../parts/use-asked.ts'
import { usePages } from '../parts/use-pages.ts'
import { useChange } from '../parts/use-change.ts'

interface Chains {
  readonly chains: readonly ChainRow[]
  readonly readOnly?: string
}

interface Notes {
  readonly notes: readonly NoteRow[]
  readonly next?: string
}

/** The chains, whether they hold, and what happened beside calls. */
export function EvidencePage() {
  const { answer, fault, again } = useAsked<Chains>('/api/evidence')
  const found = useSignal<Verified | undefined>(undefined)
  const change = useChange()
  const verify = async (): Promise<void> => {
    found.value = undefined
    found.value = await change.make<Verified>('/api/evidence/verify', {})
    again()
  }
  return (
    <>
      <h1>Evidence</h1>
      <Fault text={fault ?? change.fault ?? answer?.readOnly} />
      <div class="bar">
        <button type="button" disabled={change.isBusy} onClick={() => void verify()}>
          Verify
        </button>
        <span role="status">
          {change.isBusy && 'Every record is held against its chain…'}
          {found.value !== undefined && <Finding found={found.value} />}
        </span>
      </div>
      <table aria-label="Chains">
        <TableHead columns={['Tenant', ['Records', 'number'], 'Last hash']} />
        <tbody>
          {answer?.chains.map(({ tenant, records, hash }) => (
            <tr key={tenant}>
              <td>{tenant === '' ? <em>all tenants</em> : tenant}</td>
              <td class="number">{records}</td>
              <td>
                <code>{hash}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <NoteList />
    </>
  )
}

function Finding({ found }: { found: Verified }) {
  const { ok, records, calls, signed, issue } = found
  if (issue !== undefined)
    return (
      <span class="danger">
        {issue.message}{' '}
        {issue.sequence > 0 && `${issue.problem}: tenant "${issue.tenant}", record ${issue.sequence}`}
      </span>
    )
  return (
    <span class={`outcome ${ok ? 'ok' : 'failed'}`}>
      The chains hold: {records} records of {calls} calls
      {signed !== undefined && `, ${signed.records} of them signed`}.
    </span>
  )
}

function NoteList() {
  const { rows, fault, more } = usePages<Notes, NoteRow>('/api/notes', ({ notes }) => notes)
  return (
    <>
      <h2>Notes</h2>
      <Fault text={fault} />
      {rows.value?.length === 0 && <p class="empty">Nothing happened beside calls yet.</p>}
      <ul class="list" aria-label="Notes">
        {rows.value?.map(({ tenant, sequence, at, event, message, actor, tool, call }) => (
          <li key={`${tenant} ${sequence}`} class="note">
            <small>
              <When at={at} /> · {event} · {tenant === '' ? 'all tenants' : tenant} {sequence}
              {actor !== undefined && ` · ${actor}`}
              {tool !== undefined && ` · ${tool}`}
            </small>
            <div>
              {message}{' '}
              {call !== undefined && call !== '' && (
                <a href={`/calls/${encodeURIComponent(call)}`}>its call</a>
              )}
            </div>
          </li>
        ))}
      </ul>
      {more !== undefined && (
        <button type="button" onClick={more}>
          Earlier notes
        </button>
      )}
    </>
  )
}
