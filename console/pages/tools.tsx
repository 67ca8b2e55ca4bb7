import { useSignal } from '@preact/signals'
import { mayOperate, type ToolDetail, type ToolRow } from '../api.ts'
import { Fault } from '../parts/fault.tsx'
import { showDuration } from '../../src/kit/time/show-duration.ts'
import { fitsWords } from '../parts/fits-words.ts'
import { NotThereYet } from '../parts/not-there-yet.tsx'
import { StopButton } from '../parts/stop-button.tsx'
import { Table } from '../parts/table.tsx'
import { Preview } from '../code/preview.tsx'
import { countOf, toWords, Value, When } from '../parts/text.tsx'
import { TryTool } from '../try/try-tool.tsx'
import { useAsked } from '../parts/use-asked.ts'
import { useChange } from '../parts/use-change.ts'

/** The tools, and where each stands. */
export function ToolsPage() {
  const filter = useSignal('')
  const { answer, fault } = useAsked<{ readonly tools: readonly ToolRow[] }>('/api/tools')
  const shown = (answer?.tools ?? []).filter(({ name, title, source, state, blocked = '' }) =>
    fitsWords(filter.value, `${name} ${title} ${source} ${state} ${blocked}`),
  )
  return (
    <>
      <h1>Tools</h1>
      <div class="bar">
        <label>
          Filter{' '}
          <input value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} />
        </label>
        <span role="status">
          {answer !== undefined && `${shown.length} of ${countOf(answer.tools.length, 'tool')}`}
        </span>
      </div>
      <PatternStop />
      <Fault text={fault} />
      {answer !== undefined && (
        <Table
          label="Tools"
          columns={['Tool', 'State', 'Effect', 'Source', 'Version']}
          rows={shown.map((tool) => ({
            key: tool.name,
            cells: [
              <>
                <a href={`/tools/${encodeURIComponent(tool.name)}`}>{tool.name}</a>{' '}
                <small>{tool.title}</small>
              </>,
              <>
                {tool.state}
                {tool.blocked !== undefined && tool.blocked !== tool.state && (
                  <span class="tag danger">{toWords(tool.blocked)}</span>
                )}
                {tool.outage !== undefined && <span class="tag">{tool.outage}</span>}
              </>,
              tool.sideEffect,
              tool.source,
              tool.version,
            ],
          }))}
        />
      )}
    </>
  )
}

/** Stops all tools whose name fits a pattern. */
function PatternStop() {
  const pattern = useSignal('')
  if (!mayOperate()) return null
  return (
    <details>
      <summary>Stop a pattern of tools</summary>
      <label>
        Pattern{' '}
        <input
          value={pattern.value}
          placeholder="mcp.shop.*"
          onInput={(event) => (pattern.value = event.currentTarget.value.trim())}
        />
      </label>
      {pattern.value !== '' && (
        <StopButton key={pattern.value} what={pattern.value} scope={{ tools: pattern.value }} />
      )}
    </details>
  )
}

/** A tool: its definition, and what an operator may do about it. */
export function ToolPage({ tool }: { tool: string }) {
  const path = `/api/tools/${encodeURIComponent(tool)}`
  const { answer, fault, isLate, again } = useAsked<ToolDetail>(path)
  const change = useChange()
  const isBusy = change.isBusy || isLate
  const make = async (to: string, body: object): Promise<void> => {
    if ((await change.make(`${path}/${to}`, body)) !== undefined) again()
  }
  if (answer === undefined) return <NotThereYet fault={fault} />
  const { definition, status, pending } = answer
  const isPaused = status.state === 'paused'
  return (
    <>
      <h1>{tool}</h1>
      <p>{typeof definition['description'] === 'string' && definition['description']}</p>
      <p>
        {status.state}
        {status.advice !== undefined && `: ${status.advice}`} · from {answer.source} ·{' '}
        <code>{answer.digest}</code>
      </p>
      <Fault text={change.fault} />
      {mayOperate() && (
        <div class="bar">
          <button
            type="button"
            class={isPaused ? 'allow' : 'deny'}
            disabled={isBusy}
            title="Calls end with an error until it is enabled; those that run go on"
            onClick={() => void make('state', { state: isPaused ? 'enabled' : 'paused' })}
          >
            {isPaused ? 'Enable' : 'Pause'}
          </button>
          <StopButton what={tool} scope={{ tools: tool }} />
        </div>
      )}
      {pending !== undefined && (
        <section class="card" aria-label="A definition that waits">
          <h2>Version {pending.version} waits for approval</h2>
          {pending.changes.map(({ field, diff }) => (
            <Preview key={field} title={field} body={diff} />
          ))}
          {mayOperate() && (
            <button
              type="button"
              class="allow"
              disabled={isBusy}
              onClick={() => void make('approve', { digest: pending.digest })}
            >
              Approve this definition
            </button>
          )}
        </section>
      )}
      <Usage usage={answer.usage} />
      {mayOperate() && <TryTool key={answer.digest} tool={tool} schema={definition.inputSchema} />}
      <h2>Definition</h2>
      <Value value={definition} label="Definition" />
      <History history={answer.history} />
    </>
  )
}

function Usage({ usage: { calls, ok, failed, denied, p95Ms } }: Pick<ToolDetail, 'usage'>) {
  if (calls === 0) return <p class="empty">It was not called yet.</p>
  return (
    <p>
      {calls === 1 ? 'Its one call' : `Of its last ${calls} calls`}: {ok} ok, {failed} failed, {denied} denied
      {p95Ms !== undefined && `; 95 of 100 took at most ${showDuration(p95Ms)}`}
    </p>
  )
}

function History({ history }: Pick<ToolDetail, 'history'>) {
  if (history.length === 0) return null
  return (
    <>
      <h2>What happened to it</h2>
      <ol class="list">
        {history.map(({ at, event, message }) => (
          <li key={`${at} ${event}`} class="note">
            <When at={at} /> {message}
          </li>
        ))}
      </ol>
    </>
  )
}
