import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { CallRow } from '../api.ts'
import { beginning, onRecord, type ToldRecord } from '../events.ts'
import { CallSearch, isFor, readSought, toQuery } from '../parts/call-search.tsx'
import { CallTable } from '../parts/call-table.tsx'
import { Fault } from '../parts/fault.tsx'
import { fitsWords } from '../parts/fits-words.ts'
import { JumpBar } from '../parts/jump-bar.tsx'
import { SessionTree } from '../parts/session-tree.tsx'
import { StopButton } from '../parts/stop-button.tsx'
import { usePages } from '../parts/use-pages.ts'

interface Page {
  readonly calls: readonly CallRow[]
  readonly next?: string
}

/** More of them would fill the memory of a page that stands open for days; the ones before are loaded again by scrolling. */
const mostLive = 500
/** The first page is short, to be there at once; who scrolls on does not wait for each screen. */
const laterRows = 500

/** Calls as they happen, and those before. */
export function LivePage() {
  const sought = readSought()
  const isPlaced = (sought.until ?? sought.record) !== undefined
  const pages = usePages<Page, CallRow>(`/api/calls${toQuery(sought)}`, ({ calls }) => calls, laterRows)
  const { rows, fault, again, change, more } = pages
  const filter = useSignal('')
  const isHeld = useSignal(false)
  useEffect(
    () =>
      onRecord((told) => {
        if (!isHeld.value) change((before) => take(before, told))
      }),
    [],
  )
  const since = useRef(beginning.value)
  useEffect(() => {
    if (since.current !== beginning.value) again()
    since.current = beginning.value
  }, [beginning.value])
  const calls = rows.value ?? []
  const shown =
    filter.value.trim() === ''
      ? calls
      : calls.filter(({ tool, actor, outcome, session, reason = '' }) =>
          fitsWords(filter.value, `${tool} ${actor} ${outcome} ${session} ${reason}`),
        )
  const isAll = filter.value === '' && toQuery(sought) === ''
  return (
    <>
      <div class="head">
        <h1>Live</h1>
        <StopButton what="everything" scope={{ all: true }} />
      </div>
      <SessionTree />
      <CallSearch sought={sought} />
      <JumpBar shown={sought} />
      <div class="bar">
        <label>
          Filter{' '}
          <input
            value={filter.value}
            placeholder="words of what is loaded"
            onInput={(event) => (filter.value = event.currentTarget.value)}
          />
        </label>
        <button
          type="button"
          aria-pressed={isHeld.value}
          disabled={isPlaced}
          title={isHeld.value ? 'Shows calls as they happen again' : 'Keeps the list as it is'}
          onClick={() => {
            isHeld.value = !isHeld.value
            if (!isHeld.value) again()
          }}
        >
          {isHeld.value ? 'Follow' : 'Hold'}
        </button>
        <span role="status">
          {shown.length} of {calls.length} calls{more !== undefined && ', and more before'}
        </span>
      </div>
      <Fault text={fault} />
      {rows.value === undefined && fault === undefined ? (
        <p class="empty">Loading…</p>
      ) : (
        <CallTable calls={shown} label="Calls" onEnd={more} empty={isAll ? <NoneYet /> : noneFits} />
      )}
      {more !== undefined && (
        <button type="button" disabled={pages.isLoading} onClick={more}>
          {pages.isLoading ? 'Looking…' : 'Earlier calls'}
        </button>
      )}
    </>
  )
}

const noneFits = 'No calls. Look for others above.'

function NoneYet() {
  return (
    <>
      No calls yet. They show up here as they happen. At a terminal:{' '}
      <code>handrail call code.list_dir path=.</code>
    </>
  )
}

/** The calls with what a record says: a begin is a new one, an end belongs to one. */
function take(calls: readonly CallRow[], { tenant, sequence, record }: ToldRecord): readonly CallRow[] {
  if (record.kind === 'begin') {
    if (
      !isFor(readSought(), { ...record, tenant }) ||
      calls.some((each) => each.call === record.call && each.tenant === tenant)
    )
      return calls
    const { session, call, tool, actor, role, at } = record
    const oldest = calls.at(-1)
    // The answer was read after it, and left it to the next page.
    if (oldest !== undefined && at < oldest.at) return calls
    const begun = { tenant, session, call, tool, actor, role, at, sequence, outcome: 'running' }
    return [begun, ...calls].slice(0, Math.max(mostLive, calls.length))
  }
  if (record.kind !== 'end') return calls
  const { outcome, durationMs, code, reason } = record
  return calls.map((each) =>
    each.call === record.call && each.tenant === tenant
      ? {
          ...each,
          outcome,
          durationMs,
          ...(code !== undefined && { code }),
          ...(reason !== undefined && { reason }),
        }
      : each,
  )
}
