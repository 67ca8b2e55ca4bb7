import { showDuration } from '../../src/kit/time/show-duration.ts'
import { mayOperate, type CallDetail, type EvidenceRecord, type JsonObject } from '../api.ts'
import { Fault } from '../parts/fault.tsx'
import { StopButton } from '../parts/stop-button.tsx'
import { useChange } from '../parts/use-change.ts'
import { NotThereYet } from '../parts/not-there-yet.tsx'
import { Result } from '../parts/result.tsx'
import { Table } from '../parts/table.tsx'
import { countOf, Outcome, showNumber, toWords, Value, When } from '../parts/text.tsx'
import { useAsked } from '../parts/use-asked.ts'

type Of<Kind extends EvidenceRecord['kind']> = Extract<EvidenceRecord, { kind: Kind }>

/** One call: what happened, why, and how it would be decided now. */
export function CallPage({ call }: { call: string }) {
  const { answer, fault, isLate, again } = useAsked<CallDetail>(`/api/calls/${encodeURIComponent(call)}`)
  if (answer === undefined) return <NotThereYet fault={fault} />
  const records = answer.records.map(({ record }) => record)
  const begin = records.find((record): record is Of<'begin'> => record.kind === 'begin')
  const end = records.find((record): record is Of<'end'> => record.kind === 'end')
  const why = messageIn(answer.result)
  return (
    <>
      <h1>
        {begin?.tool ?? end?.tool ?? call}{' '}
        <Outcome outcome={end?.outcome ?? 'running'} reason={end?.reason} />
      </h1>
      {why !== undefined && <p class="fault">{why}</p>}
      <p>
        {begin !== undefined && (
          <>
            By {begin.actor} of {begin.tenant} as {begin.role}, <When at={begin.at} />
            {end !== undefined && `, took ${showDuration(end.durationMs)}`} ·{' '}
          </>
        )}
        <code>{call}</code>
        {answer.run !== undefined && (
          <>
            {' '}
            · of the run <a href={`/runs/${encodeURIComponent(answer.run)}`}>{answer.run}</a>, which can be
            replayed there
          </>
        )}
      </p>
      {begin !== undefined && end !== undefined && mayHaveRun(begin, end) && (
        <StepBar begin={begin} end={end} />
      )}
      {begin !== undefined && end === undefined && <AbortButton {...{ call, isLate, again }} />}
      {begin !== undefined && <Decided begin={begin} detail={answer} />}
      <h2>Input</h2>
      {answer.input === undefined ? <p>Not kept.</p> : <Value value={answer.input} label="Input" />}
      <h2>Result</h2>
      {answer.result === undefined ? (
        <p>{end === undefined ? 'The call has not ended.' : 'Not kept.'}</p>
      ) : (
        <Result result={answer.result} />
      )}
      <h2>Evidence</h2>
      <p>
        In a chain of {countOf(answer.chain.records, 'record')};{' '}
        {answer.chain.signed === undefined ? (
          'not signed yet'
        ) : (
          <>
            signed <When at={answer.chain.signed.at} /> by the checkpoint {answer.chain.signed.sequence} with{' '}
            <code>{answer.chain.signed.key}</code>
          </>
        )}
        . <a href="/evidence">Verify the chain</a>
      </p>
      <Records records={answer.records} />
      {begin !== undefined && <Stops begin={begin} />}
    </>
  )
}

/** What an operator may stop who saw this call. */
function Stops({ begin: { tool, actor, tenant } }: { begin: Of<'begin'> }) {
  if (!mayOperate()) return null
  return (
    <>
      <h2>Stop</h2>
      <div class="bar">
        <StopButton what={tool} scope={{ tools: tool }} />
        <StopButton what={`calls of ${actor}`} scope={{ actor, tenant }} />
        <StopButton what={`the tenant ${tenant}`} scope={{ tenant }} />
      </div>
    </>
  )
}

/** Whether there is a time of the tool to speak of: what was refused did not run. */
function mayHaveRun({ decision }: Of<'begin'>, { outcome }: Of<'end'>): boolean {
  return decision !== undefined && outcome !== 'denied'
}

/** What an error says in words. */
function messageIn(result: JsonObject | undefined): string | undefined {
  const error = result?.['error']
  if (typeof error !== 'object' || error === null || Array.isArray(error)) return undefined
  return typeof error['message'] === 'string' ? error['message'] : undefined
}

/** The records of the call, with their places in the chain. */
function Records({ records }: Pick<CallDetail, 'records'>) {
  return (
    <Table
      label="Records"
      columns={['What', ['Record', 'number'], 'When', 'Hash']}
      rows={records.map(({ sequence, hash, record }) => ({
        key: String(sequence),
        cells: [
          record.kind === 'note' ? `${toWords(record.event)}: ${record.message}` : record.kind,
          showNumber(sequence),
          <When at={record.at} />,
          <code title={hash}>{hash.slice(0, 16)}…</code>,
        ],
      }))}
    />
  )
}

/** How the time from begin to end was spent: in the tool, and in all that is around it. */
function StepBar({ begin, end }: { begin: Of<'begin'>; end: Of<'end'> }) {
  const whole = Math.max(end.at - begin.at, end.durationMs, 1)
  const rest = whole - end.durationMs
  const words = `${showDuration(end.durationMs)} in the tool, ${showDuration(rest)} for checks, waiting and records`
  return (
    <figure>
      <svg class="step-bar" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={words}>
        <rect class="rest" x="0" y="0" width={(rest / whole) * 100} height="10" />
        <rect class="run" x={(rest / whole) * 100} y="0" width={(end.durationMs / whole) * 100} height="10" />
      </svg>
      <figcaption>
        <small>
          {words}; begun {new Date(begin.at).toISOString()}, ended {new Date(end.at).toISOString()}
        </small>
      </figcaption>
    </figure>
  )
}

/** Layers whose rules stand on the page of the policy. */
const ruleLayers: ReadonlySet<string> = new Set(['policy', 'tenant', 'project'])

function Decided({ begin, detail: { explanation } }: { begin: Of<'begin'>; detail: CallDetail }) {
  const { decision, approval, consent } = begin
  const now = explanation?.now
  return (
    <>
      <h2>Decision</h2>
      <p>
        {decision === undefined
          ? 'None was made: the call ended before.'
          : `${decision.effect} by ${decision.layer}: `}
        {decision !== undefined && ruleLayers.has(decision.layer) ? (
          <a href="/policy">{decision.rule}</a>
        ) : (
          decision?.rule
        )}
        {explanation?.policyVersion !== undefined && `, policy version ${explanation.policyVersion}`}
        {approval !== undefined &&
          `; ${approval.decision} by ${approval.by ?? 'the person'}${approval.reason === undefined ? '' : `: ${approval.reason}`}`}
        {consent !== undefined && `; by the standing consent ${consent}`}
      </p>
      {now !== undefined && 'preflight' in now && (
        <>
          <h3>Decided by the policy of now: {now.preflight.effect}</h3>
          <ol class="steps" aria-label="Steps">
            {now.preflight.steps.map(({ step, outcome, note }) => (
              <li key={step}>
                <strong>{step}</strong> <span class={`outcome ${outcome}`}>{toWords(outcome)}</span> {note}
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

/** Ends a call that runs, in whatever process. */
function AbortButton({ call, isLate, again }: { call: string; isLate: boolean; again: () => void }) {
  const change = useChange()
  if (!mayOperate()) return null
  const abort = async (): Promise<void> => {
    if ((await change.make('/api/abort', { call })) !== undefined) again()
  }
  return (
    <p>
      <button type="button" class="deny" disabled={change.isBusy || isLate} onClick={() => void abort()}>
        Abort this call
      </button>
      <Fault text={change.fault} />
    </p>
  )
}
