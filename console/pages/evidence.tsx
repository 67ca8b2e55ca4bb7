import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { messageOf } from '../../src/kit/text/message-of.ts'
import { ask, mayOperate, usual } from '../api.ts'
import type { ChainRow, NoteRow, RecordRow, Verified } from '../api.ts'
import { Fault } from '../parts/fault.tsx'
import { JumpBar, readQuery, toApiQuery, type Place } from '../parts/jump-bar.tsx'
import { Table } from '../parts/table.tsx'
import { Outcome, showNumber, toWords, When } from '../parts/text.tsx'
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
          {change.isBusy && <Progress />}
          {found.value !== undefined && <Finding found={found.value} />}
        </span>
      </div>
      {answer !== undefined && (
        <Table
          label="Chains"
          columns={['Tenant', ['Records', 'number'], 'Last hash']}
          rows={answer.chains.map(({ tenant, records, hash }) => ({
            key: tenant,
            cells: [
              <a href={`/evidence?tenant=${encodeURIComponent(tenant)}`}>{nameOf(tenant)}</a>,
              showNumber(records),
              <code title={hash}>{hash.slice(0, 16)}…</code>,
            ],
          }))}
        />
      )}
      {(answer ?? fault) !== undefined && <Files />}
      {answer !== undefined && <Records chains={answer.chains.map(({ tenant }) => tenant)} />}
    </>
  )
}

/** How often it is asked how far the verification has come. */
const lookMs = 300

function Progress() {
  const { answer, again } = useAsked<{ readonly records?: number; readonly of?: number }>(
    '/api/evidence/progress',
  )
  useEffect(() => {
    const timer = setInterval(again, lookMs)
    return () => clearInterval(timer)
  }, [])
  return (
    <>
      Every record is held against its chain…{' '}
      {answer?.records !== undefined && (
        <>
          <progress
            value={answer.records}
            max={answer.of}
            aria-label="Records that were held against their chain"
          />{' '}
          {answer.records} of {answer.of}
        </>
      )}
    </>
  )
}

interface Prunable {
  readonly before: number
  readonly tenants: readonly { readonly tenant: string; readonly bodies: number }[]
}

/** What can be taken out of here, and what a prune would take. */
function Files() {
  const session = useSignal('')
  const days = useSignal('30')
  const found = useSignal<Prunable | undefined>(undefined)
  const isBusy = useSignal(false)
  const fault = useSignal<string | undefined>(undefined)
  const look = async (event: Event): Promise<void> => {
    event.preventDefault()
    isBusy.value = true
    fault.value = found.value = undefined
    try {
      found.value = await ask<Prunable>(`/api/evidence/prune?days=${encodeURIComponent(days.value)}`)
    } catch (error) {
      fault.value = messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  const query = session.value === '' ? '' : `?session=${encodeURIComponent(session.value)}`
  return (
    <>
      {mayOperate() && (
        <>
          <h2>Export</h2>
          <div class="bar">
            <label>
              Session{' '}
              <input
                value={session.value}
                placeholder="all"
                onInput={(event) => (session.value = event.currentTarget.value.trim())}
              />
            </label>
            <a href={`/api/evidence/export${query}`} download="evidence.jsonl">
              Download the evidence with inputs and results
            </a>
          </div>
        </>
      )}
      <h2>What a prune would take</h2>
      <form class="bar" onSubmit={(event) => void look(event)}>
        <label>
          Older than{' '}
          <input
            inputMode="numeric"
            size={5}
            value={days.value}
            onInput={(event) => (days.value = event.currentTarget.value)}
          />{' '}
          days
        </label>
        <button type="submit" disabled={isBusy.value}>
          Count
        </button>
        <span role="status">
          {isBusy.value && 'Counting…'}
          {found.value !== undefined && <Takes found={found.value} />}
        </span>
      </form>
      <Fault text={fault.value} />
    </>
  )
}

function Takes({ found: { before, tenants } }: { found: Prunable }) {
  if (tenants.length === 0) return <>Nothing is that old.</>
  return (
    <>
      Inputs and results from before {new Date(before).toISOString().slice(0, 10)}:{' '}
      {tenants.map(({ tenant, bodies }) => `${bodies} of ${tenant}`).join(', ')}. Nothing went. At a terminal:{' '}
      <code>handrail evidence prune</code>
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

interface RecordList {
  readonly records: readonly RecordRow[]
  readonly next?: string
}

/** The records of a chain, and the notes among them, from where the address of the page says. */
function Records({ chains }: { chains: readonly string[] }) {
  const place = readQuery(['tenant', 'until', 'record'])
  const tenant = place.tenant ?? usual()
  const { rows, fault, more } = usePages<RecordList, RecordRow>(
    `/api/records${toApiQuery(place)}`,
    ({ records }) => records,
  )
  const shown = rows.value
  return (
    <>
      <h2>Records and notes</h2>
      <JumpBar shown={{ ...place, tenant }} chains={chains} />
      <Fault text={fault} />
      <details open={Object.keys(place).length > 0}>
        <summary>Records of {nameOf(tenant)}, one by one</summary>
        {shown?.length === 0 && <p class="empty">There are no records from there back.</p>}
        {shown !== undefined && shown.length > 0 && <RecordTable records={shown} />}
        {more !== undefined && (
          <button type="button" onClick={more}>
            Earlier records
          </button>
        )}
      </details>
      {(shown ?? fault) !== undefined && <NoteList place={place} />}
    </>
  )
}

function RecordTable({ records }: Pick<RecordList, 'records'>) {
  return (
    <Table
      label="Records"
      columns={['Record', 'When', 'What', 'Who', 'Hash']}
      rows={records.map((record) => ({
        key: String(record.sequence),
        cells: [
          showNumber(record.sequence),
          record.at === undefined ? '' : <When at={record.at} />,
          <What record={record} />,
          record.actor ?? '',
          <code title={record.hash}>{record.hash.slice(0, 16)}…</code>,
        ],
      }))}
    />
  )
}

function nameOf(tenant: string): string {
  return tenant === '' ? 'all tenants' : tenant
}

function What({ record: { kind, call, tool, outcome, event, message } }: { record: RecordRow }) {
  if (kind === 'checkpoint') return <>signature</>
  if (kind === 'unreadable') return <span class="danger">not a record any more: verify the chain</span>
  const named = kind === 'note' ? toWords(event ?? kind) : tool
  return (
    <>
      {call === undefined ? named : <a href={`/calls/${encodeURIComponent(call)}`}>{named}</a>}{' '}
      {kind === 'begin' && 'began'}
      {outcome !== undefined && <Outcome outcome={outcome} />}
      {message !== undefined && <small>{message}</small>}
    </>
  )
}

function NoteList({ place }: { place: Place }) {
  const sought = useSignal<{ readonly [name: string]: string }>({})
  const named = Object.fromEntries(Object.entries(sought.value).filter(([, value]) => value !== ''))
  const { rows, fault, more } = usePages<Notes, NoteRow>(
    `/api/notes${toApiQuery({ ...place, ...named })}`,
    ({ notes }) => notes,
  )
  return (
    <>
      <h3>Notes</h3>
      <search class="bar">
        {['event', 'actor', 'tool', 'session'].map((name) => (
          <label key={name}>
            {`${name.charAt(0).toUpperCase()}${name.slice(1)}`}{' '}
            <input
              value={sought.value[name] ?? ''}
              onChange={({ currentTarget: { value } }) =>
                (sought.value = { ...sought.value, [name]: value.trim() })
              }
            />
          </label>
        ))}
        <span>
          <a href="/live">Calls are looked for in Live.</a>
        </span>
      </search>
      <Fault text={fault} />
      {rows.value?.length === 0 && <p class="empty">Nothing happened beside calls that is looked for.</p>}
      <ul class="list" aria-label="Notes">
        {rows.value?.map(({ tenant, sequence, at, event, message, actor, tool, call }) => (
          <li key={`${tenant} ${sequence}`} class="note">
            <small>
              <When at={at} /> · <span title={event}>{toWords(event)}</span> ·{' '}
              {tenant === '' ? 'all tenants' : tenant}, record {sequence}
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
