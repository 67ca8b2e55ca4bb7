import { useState } from 'preact/hooks'
import { mayOperate, type RunDetail, type StoredRun } from '../api.ts'
import { useChange } from '../parts/use-change.ts'
import { CallTable } from '../parts/call-table.tsx'
import { Fault } from '../parts/fault.tsx'
import { Said } from '../parts/said.tsx'
import { ComparePart, ReplayPart } from '../parts/run-checks.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { NotThereYet } from '../parts/not-there-yet.tsx'
import { Table } from '../parts/table.tsx'
import { countOf, showNumber, toWords, When } from '../parts/text.tsx'
import { useAsked } from '../parts/use-asked.ts'

/** The runs of agents. */
export function RunsPage() {
  const { answer, fault } = useAsked<{ readonly runs: readonly StoredRun[] }>('/api/runs')
  return (
    <>
      <h1>Runs</h1>
      <Fault text={fault} />
      {answer?.runs.length === 0 && (
        <p class="empty">
          No agent ran yet. At a terminal: <code>handrail run "What is in this folder?"</code>
        </p>
      )}
      {answer !== undefined && answer.runs.length > 0 && <RunTable runs={answer.runs} label="Runs" />}
    </>
  )
}

function RunTable({ runs, label }: { runs: readonly StoredRun[]; label: string }) {
  return (
    <Table
      label={label}
      columns={[
        'Run',
        'Started',
        'Who',
        'State',
        'Model',
        ['Turns', 'number'],
        ['Tokens', 'number'],
        ['Cost', 'number'],
      ]}
      rows={runs.map((run) => ({
        key: run.id,
        cells: [
          <>
            <a href={`/runs/${encodeURIComponent(run.id)}`}>{run.id}</a>{' '}
            <small>{run.definition ?? (run.parent === undefined ? '' : 'child')}</small>
          </>,
          <When at={run.startedAt} />,
          <>
            {run.actor} <small>of {run.tenant}</small>
          </>,
          <RunState run={run} />,
          run.model.modelId,
          run.turns,
          showNumber(run.usage.inputTokens + run.usage.outputTokens),
          run.usage.cost?.toFixed(4) ?? '–',
        ],
      }))}
    />
  )
}

/** Why a run ended, or that it goes on; in colour if it did not come to its end. */
function RunState({ run: { endReason, state } }: { run: StoredRun }) {
  const kind = endReason === 'failed' || endReason === 'budget_exceeded' ? 'fault' : undefined
  return <span class={endReason === 'approval_pending' ? 'warn' : kind}>{toWords(endReason ?? state)}</span>
}

/** A run: what was said in it, and its calls. */
export function RunPage({ run }: { run: string }) {
  const { answer, fault } = useAsked<RunDetail>(`/api/runs/${encodeURIComponent(run)}`)
  const change = useChange()
  const [whole, setWhole] = useState<RunDetail['transcript']>()
  if (answer === undefined) return <NotThereYet fault={fault} />
  const showAll = async (): Promise<void> => {
    const path = `/api/runs/${encodeURIComponent(run)}/unredacted`
    setWhole((await change.make<Pick<RunDetail, 'transcript'>>(path, {}))?.transcript)
  }
  return (
    <>
      <h1>
        Run <code>{run}</code>
      </h1>
      <RunTable runs={[answer.run]} label="This run" />
      {answer.children.length > 0 && (
        <>
          <h2>Children</h2>
          <RunTable runs={answer.children} label="Children" />
        </>
      )}
      <Timeline detail={answer} />
      <Deliverables detail={answer} />
      <h2>Conversation</h2>
      {answer.run.prunedAt !== undefined && <p>It was removed, as the policy says how long it is kept.</p>}
      <Fault text={change.fault} />
      {whole === undefined && mayOperate(answer.run.tenant) && (
        <button type="button" disabled={change.isBusy} onClick={() => void showAll()}>
          Show it without redaction, which is noted
        </button>
      )}
      <ol class="transcript" aria-label="Conversation">
        {(whole ?? answer.transcript).map((node) => (
          <li key={node.id}>
            <small>
              {node.type} · <When at={node.at} />
            </small>
            <Said node={node} />
          </li>
        ))}
      </ol>
      <h2>Calls</h2>
      <CallTable calls={answer.calls} label="Calls" />
      <ReplayPart run={run} />
      <ComparePart run={run} />
    </>
  )
}

/** What calls left behind, and who let them. */
function Deliverables({ detail: { files, artifacts, approvals } }: { detail: RunDetail }) {
  return (
    <>
      {files.length > 0 && (
        <>
          <h2>Files that were changed</h2>
          <ul aria-label="Files">
            {files.map(({ path, action, call }) => (
              <li key={path} class="note">
                <a href={`/calls/${encodeURIComponent(call)}`}>{path}</a> <small>{action}</small>
              </li>
            ))}
          </ul>
        </>
      )}
      {artifacts.length > 0 && (
        <>
          <h2>Artifacts</h2>
          <ul aria-label="Artifacts">
            {artifacts.map(({ digest, name, mimeType, bytes, call }) => (
              <li key={digest} class="note">
                <a href={`/calls/${encodeURIComponent(call)}`}>{name ?? digest}</a>{' '}
                <small>
                  {mimeType}, {countOf(bytes, 'byte')}
                </small>
              </li>
            ))}
          </ul>
        </>
      )}
      {approvals.length > 0 && (
        <>
          <h2>Approvals</h2>
          <ul aria-label="Approvals">
            {approvals.map(({ call, tool, at, decision, by, reason }) => (
              <li key={call} class="note">
                <a href={`/calls/${encodeURIComponent(call)}`}>{tool}</a> {decision} by {by ?? 'the person'}
                {reason !== undefined && `: ${reason}`} <When at={at} />
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
