import { useSignal } from '@preact/signals'
import type { ComparedPair, RunReplay, StoredRun } from '../api.ts'
import { Fault } from './fault.tsx'
import { Table } from './table.tsx'
import { countOf, Outcome, Value } from './text.tsx'
import { useAsked } from './use-asked.ts'
import { useChange } from './use-change.ts'

/** Runs a run once more without the world, at a press. */
export function ReplayPart({ run }: { run: string }) {
  const change = useChange()
  const found = useSignal<RunReplay | undefined>(undefined)
  const replay = async (): Promise<void> => {
    found.value = undefined
    found.value = await change.make<RunReplay>(`/api/runs/${encodeURIComponent(run)}/replay`, {})
  }
  return (
    <>
      <h2>Replay</h2>
      <p>
        Goes through the run again by the policy and tools of now, on what was recorded: no model, tool or
        person is asked.
      </p>
      <div class="bar">
        <button type="button" disabled={change.isBusy} onClick={() => void replay()}>
          Replay
        </button>
        <span role="status">
          {change.isBusy && 'Replaying…'}
          {found.value !== undefined && <Replayed found={found.value} />}
        </span>
      </div>
      <Fault text={change.fault} />
    </>
  )
}

function Replayed({ found: { turns, calls, replayed, skipped, divergence } }: { found: RunReplay }) {
  const count = `${countOf(turns, 'turn')}, ${replayed} of ${countOf(calls, 'call')} went as they did then`
  return (
    <>
      {divergence === undefined ? (
        <span class="outcome ok">It would go the same way: {count}.</span>
      ) : (
        <span class="danger">
          It parts{divergence.turn !== undefined && ` in turn ${divergence.turn}`}
          {divergence.tool !== undefined && ` at ${divergence.tool}`}: {count}.{' '}
          {divergence.call !== undefined && (
            <a href={`/calls/${encodeURIComponent(divergence.call)}`}>That call</a>
          )}
        </span>
      )}
      {divergence?.differences.map(({ what, recorded, now }) => (
        <Value key={what} label={`What differs: ${what}`} value={`${what}\n- ${recorded}\n+ ${now}`} />
      ))}
      {skipped.map(({ tool = 'a part', reason }, index) => (
        // oxlint-disable-next-line react/no-array-index-key
        <p key={index}>
          Not replayed: {tool}, {reason}
        </p>
      ))}
    </>
  )
}

/** The calls of this run beside those of another one. */
export function ComparePart({ run }: { run: string }) {
  const other = useSignal('')
  const { answer } = useAsked<{ readonly runs: readonly StoredRun[] }>('/api/runs')
  const others = answer?.runs.filter(({ id }) => id !== run) ?? []
  if (others.length === 0) return null
  return (
    <>
      <h2>Compare</h2>
      <div class="bar">
        <label>
          With{' '}
          <select value={other.value} onChange={(event) => (other.value = event.currentTarget.value)}>
            <option value="">no other run</option>
            {others.map(({ id, definition, startedAt }) => (
              <option key={id} value={id}>
                {new Date(startedAt).toISOString().slice(0, 19)} {definition ?? ''} {id}
              </option>
            ))}
          </select>
        </label>
      </div>
      {other.value !== '' && <Compared key={other.value} run={run} other={other.value} />}
    </>
  )
}

function Compared({ run, other }: { run: string; other: string }) {
  const { answer, fault } = useAsked<{ readonly pairs: readonly ComparedPair[] }>(
    `/api/runs/${encodeURIComponent(run)}/compare/${encodeURIComponent(other)}`,
  )
  return (
    <>
      <Fault text={fault} />
      <Table
        label="Compared calls"
        columns={['This run', 'The other', 'Differs']}
        rows={(answer?.pairs ?? []).map(({ one, other: beside, differs }) => {
          const isOpen = differs.includes('input') || differs.includes('result')
          const isInBoth = one !== undefined && beside !== undefined
          return {
            key: `${one?.call ?? ''} ${beside?.call ?? ''}`,
            cells: [
              <Side side={one} isOpen={isOpen} />,
              <Side side={beside} isOpen={isOpen} />,
              <span class="warn">{isInBoth ? differs.join(', ') : 'only in one'}</span>,
            ],
          }
        })}
      />
    </>
  )
}

function Side({ side, isOpen }: { side: ComparedPair['one']; isOpen: boolean }) {
  if (side === undefined) return <>–</>
  return (
    <>
      <a href={`/calls/${encodeURIComponent(side.call)}`}>{side.tool}</a> <Outcome outcome={side.outcome} />
      {isOpen && (
        <Value
          label={`Input and result of ${side.call}`}
          value={`${JSON.stringify(side.input ?? 'not kept')}\n${side.summary ?? ''}`}
        />
      )}
    </>
  )
}
