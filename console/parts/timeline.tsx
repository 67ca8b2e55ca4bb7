import { showDuration } from '../../src/kit/time/show-duration.ts'
import type { CallRow, RunDetail } from '../api.ts'
import { countOf, Outcome } from './text.tsx'

/** A turn: when the model answered, and the calls that it made in it. */
interface Turn {
  readonly number: number
  readonly at: number
  readonly calls: readonly CallRow[]
}

/** The turns of a run with their calls, those that ran at the same time below each other. */
export function Timeline({ detail }: { detail: RunDetail }) {
  const turns = toTurns(detail)
  return (
    <>
      <h2>Timeline</h2>
      {turns.length === 0 && <p class="empty">No turn yet.</p>}
      <ol class="transcript" aria-label="Timeline">
        {turns.map((turn) => (
          <li key={turn.number}>
            <small>
              turn {turn.number}, {showDuration(Math.max(0, turn.at - detail.run.startedAt))} after the start
              · {turn.calls.length === 0 ? 'an answer' : describeCalls(turn.calls)}
            </small>
            {turn.calls.length > 0 && <Lanes turn={turn} />}
          </li>
        ))}
      </ol>
    </>
  )
}

function Lanes({ turn: { number, calls } }: { turn: Turn }) {
  const lanes = toLanes(calls)
  const from = Math.min(...calls.map(({ at }) => at))
  const whole = Math.max(1, Math.max(...calls.map(endOf)) - from)
  return (
    <>
      <svg
        class="lanes"
        viewBox={`0 0 100 ${lanes.length * 4}`}
        height={lanes.length * 14}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Calls of turn ${number}, over ${showDuration(whole)}`}
      >
        {lanes.flatMap((lane, index) =>
          lane.map((call) => (
            <rect
              key={call.call}
              class={classOf(call)}
              x={((call.at - from) / whole) * 99}
              y={index * 4 + 0.5}
              width={Math.max(1, ((endOf(call) - call.at) / whole) * 99)}
              height={3}
            />
          )),
        )}
      </svg>
      <ul class="list">
        {calls.map((call) => (
          <li key={call.call}>
            <a href={`/calls/${encodeURIComponent(call.call)}`}>{call.tool}</a>{' '}
            <Outcome outcome={call.outcome} reason={call.reason} />{' '}
            <small>
              from {showDuration(call.at - from)}
              {call.durationMs !== undefined && `, took ${showDuration(call.durationMs)}`}
            </small>
          </li>
        ))}
      </ul>
    </>
  )
}

/** Such as `3 calls, 2 of them at the same time`. */
function describeCalls(calls: readonly CallRow[]): string {
  const lanes = toLanes(calls).length
  const together = lanes === calls.length ? 'all at the same time' : `${lanes} of them at the same time`
  return `${countOf(calls.length, 'call')}${lanes > 1 ? `, ${together}` : ''}`
}

function classOf({ outcome }: CallRow): string {
  if (outcome === 'ok') return 'ok'
  return outcome === 'running' || outcome === 'waiting' ? 'open' : 'bad'
}

function endOf({ at, durationMs }: CallRow): number {
  return at + (durationMs ?? 0)
}

/** Calls that follow each other share a lane. */
function toLanes(calls: readonly CallRow[]): CallRow[][] {
  const lanes: CallRow[][] = []
  for (const call of calls.toSorted((one, other) => one.at - other.at)) {
    const free = lanes.find((lane) => {
      const last = lane.at(-1)
      return last !== undefined && endOf(last) <= call.at && last.at < call.at
    })
    if (free === undefined) lanes.push([call])
    else free.push(call)
  }
  return lanes
}

/** An answer begins a turn, and the results behind it name its calls. */
function toTurns({ transcript, calls }: RunDetail): Turn[] {
  const known = new Map(calls.map((call) => [call.call, call]))
  const turns: { number: number; at: number; calls: CallRow[] }[] = []
  for (const node of transcript) {
    if (node.type === 'assistant') turns.push({ number: turns.length + 1, at: node.at, calls: [] })
    if (node.type !== 'tool') continue
    const own = node.calls.flatMap((id) => known.get(id) ?? [])
    turns.at(-1)?.calls.push(...own)
  }
  return turns
}
