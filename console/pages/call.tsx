import { showDuration } from '../../src/kit/time/show-duration.ts'
import type { CallDetail, EvidenceRecord } from '../api.ts'
import { NotThereYet } from '../parts/not-there-yet.tsx'
import { TableHead } from '../parts/table-head.tsx'
import { Outcome, Value, When } from '../parts/text.tsx'
import { useAsked } from '../parts/use-asked.ts'

type Of<Kind extends EvidenceRecord['kind']> = Extract<EvidenceRecord, { kind: Kind }>

/** One call: what happened, why, and how it would be decided now. */
export function CallPage({ call }: { call: string }) {
  const { answer, fault } = useAsked<CallDetail>(`/api/calls/${encodeURIComponent(call)}`)
  if (answer === undefined) return <NotThereYet fault={fault} />
  const records = answer.records.map(({ record }) => record)
  const begin = records.find((record): record is Of<'begin'> => record.kind === 'begin')
  const end = records.find((record): record is Of<'end'> => record.kind === 'end')
  return (
    <>
      <h1>
        {begin?.tool ?? end?.tool ?? call}{' '}
        <Outcome outcome={end?.outcome ?? 'running'} reason={end?.reason} />
      </h1>
      <p>
        <code>{call}</code>
        {begin !== undefined && (
          <>
            {' '}
            by {begin.actor} of {begin.tenant} as {begin.role}, <When at={begin.at} />
            {end !== undefined && `, took ${showDuration(end.durationMs)}`}
          </>
        )}
      </p>
      {begin !== undefined && <Decided begin={begin} detail={answer} />}
      <h2>Input</h2>
      {answer.input === undefined ? <p>Not kept.</p> : <Value value={answer.input} label="Input" />}
      <h2>Result</h2>
      {answer.result === undefined ? (
        <p>{end === undefined ? 'The call has not ended.' : 'Not kept.'}</p>
      ) : (
        <Value value={answer.result} label="Result" />
      )}
      <h2>Evidence</h2>
      <table aria-label="Records">
        <TableHead columns={['Record', 'What', 'When', 'Hash']} />
        <tbody>
          {answer.records.map(({ sequence, hash, record }) => (
            <tr key={sequence}>
              <td class="number">{sequence}</td>
              <td>{record.kind === 'note' ? `${record.event}: ${record.message}` : record.kind}</td>
              <td>
                <When at={record.at} />
              </td>
              <td>
                <code title={hash}>{hash.slice(0, 16)}…</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

function Decided({ begin, detail: { explanation } }: { begin: Of<'begin'>; detail: CallDetail }) {
  const { decision, approval, consent } = begin
  const now = explanation?.now
  return (
    <>
      <h2>Decision</h2>
      <p>
        {decision === undefined
          ? 'None was made: the call ended before.'
          : `${decision.effect} by ${decision.layer}: ${decision.rule}`}
        {explanation?.policyVersion !== undefined && `, policy version ${explanation.policyVersion}`}
        {approval !== undefined &&
          `; ${approval.decision} by ${approval.by ?? 'the person'}${approval.reason === undefined ? '' : `: ${approval.reason}`}`}
        {consent !== undefined && `; by the standing consent ${consent}`}
      </p>
      {now !== undefined && 'preflight' in now && (
        <>
          <h3>By the policy of now: {now.preflight.effect}</h3>
          <ol class="steps" aria-label="Steps">
            {now.preflight.steps.map(({ step, outcome, note }) => (
              <li key={step}>
                <strong>{step}</strong> <span class={`outcome ${outcome}`}>{outcome.replace('_', ' ')}</span>{' '}
                {note}
              </li>
            ))}
          </ol>
        </>
      )}
      {now !== undefined && 'obstacle' in now && <p>It cannot be decided once more: {now.obstacle}</p>}
      {explanation?.differences.map((difference) => (
        <p key={difference.what} class="warn">
          {difference.what} differs now: {String(difference.was)} → {String(difference.now)}
        </p>
      ))}
    </>
  )
}
