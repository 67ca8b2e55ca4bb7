import { useEffect, useState } from 'preact/hooks'
import type { JsonSchema } from '../../src/contract/base/schema.ts'
import type { CallError } from '../../src/contract/base/errors.ts'
import type { ToolResult } from '../../src/contract/base/result.ts'
import { messageOf } from '../../src/kit/text/message-of.ts'
import { ApiError, ask, type CallDetail, type Json, type TriedRow, type WouldBeRow } from '../api.ts'
import { onRecord } from '../events.ts'
import { Fault } from '../parts/fault.tsx'
import { RawField } from './raw-field.tsx'
import { emptyOf, hasForm, ObjectFields } from './schema-form.tsx'
import { Preview } from '../code/preview.tsx'
import { Outcome, toWords, Value } from '../parts/text.tsx'
import { useChange } from '../parts/use-change.ts'

/** Makes the input of a call, shows what would happen, and makes the call. */
export function TryTool({ tool, schema }: { tool: string; schema: JsonSchema }) {
  const fits = hasForm(schema)
  const [input, setInput] = useState<Json>(() => emptyOf(schema))
  const [isRaw, setRaw] = useState(!fits)
  /** What a look said, and of which input. */
  const [looked, setLooked] = useState<{ readonly of: Json; readonly wouldBe: WouldBeRow | undefined }>()
  const [tried, setTried] = useState<TriedRow>()
  const change = useChange()
  const lost = useEnd(tried, setTried)
  const wouldBe = looked?.of === input ? looked.wouldBe : undefined
  const path = `/api/tools/${encodeURIComponent(tool)}`
  const result = toResult(tried)
  const error = toError(wouldBe?.error) ?? result?.error
  const faults = new Map(error?.issues?.map(({ pointer, message }) => [pointer, message] as const))
  const look = async (): Promise<void> => {
    setTried(undefined)
    setLooked(undefined)
    setLooked({ of: input, wouldBe: await change.make<WouldBeRow>(`${path}/preflight`, { input }) })
  }
  const run = async (): Promise<void> => {
    setTried(await change.make<TriedRow>(`${path}/call`, { input }))
    setLooked(undefined)
  }
  const write = (next: Json | undefined): void => setInput(next ?? {})
  return (
    <section class="card try" aria-label="Try it">
      <h2>Try it</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void look()
        }}
      >
        {fits && (
          <label>
            <input
              type="checkbox"
              checked={isRaw}
              onChange={({ currentTarget }) => setRaw(currentTarget.checked)}
            />{' '}
            Write it as JSON
          </label>
        )}
        {isRaw ? (
          <label>
            Input as JSON
            <RawField value={input} onChange={write} rows={6} />
          </label>
        ) : (
          <ObjectFields schema={schema} pointer="" value={input} faults={faults} onChange={write} />
        )}
        <button type="submit" disabled={change.isBusy}>
          What would happen
        </button>
      </form>
      <Fault text={change.fault ?? lost} />
      {wouldBe !== undefined && <Would wouldBe={wouldBe} />}
      {wouldBe !== undefined && wouldBe.effect !== 'deny' && (
        <button type="button" class="allow" disabled={change.isBusy} onClick={() => void run()}>
          Run it
        </button>
      )}
      <div role="status">
        {change.isBusy && <p>One moment…</p>}
        {tried !== undefined && <Became tried={tried} result={result} />}
      </div>
    </section>
  )
}

/** What a preflight says. */
function Would({ wouldBe }: { wouldBe: WouldBeRow }) {
  const { effect, actor, steps, preview, obligations, sandbox } = wouldBe
  const error = toError(wouldBe.error)
  return (
    <>
      <h3>
        As {actor}: {effect}
      </h3>
      {error !== undefined && <Fault text={error.message} />}
      <ol class="steps" aria-label="What would happen, step by step">
        {steps.map(({ step, outcome, note }) => (
          <li key={step}>
            <strong>{step}</strong> <span class={`outcome ${outcome}`}>{toWords(outcome)}</span> {note}
          </li>
        ))}
      </ol>
      {preview !== undefined && <Preview {...preview} />}
      {sandbox !== undefined && <p>{sandbox}</p>}
      {obligations.length > 0 && <p>Of its result: {obligations.join(', ')}</p>}
    </>
  )
}

/** What has become of the call. */
function Became({ tried, result }: { tried: TriedRow; result: ToolResult | undefined }) {
  return (
    <>
      <p>
        <Outcome outcome={result?.outcome ?? tried.state} reason={result?.error?.reason} /> ·{' '}
        <a href={`/calls/${encodeURIComponent(tried.call)}`}>The call</a>
        {tried.state === 'waiting' && (
          <>
            {' '}
            · It asks a person: <a href="/inbox">answer it in the inbox</a>
          </>
        )}
        {tried.state === 'running' && ' · It goes on if you leave this page; it can be aborted on its own.'}
      </p>
      {result !== undefined && <Value value={toText(result)} label="Result" />}
    </>
  )
}

/** Asks for the result of a call that had not ended, once its end is told. */
function useEnd(tried: TriedRow | undefined, onEnd: (tried: TriedRow) => void): string | undefined {
  const [fault, setFault] = useState<string>()
  const open = tried !== undefined && tried.state !== 'ended' ? tried.call : undefined
  useEffect(() => {
    if (open === undefined) return
    let isWanted = true
    const read = async (): Promise<void> => {
      try {
        const { records, result } = await ask<CallDetail>(`/api/calls/${encodeURIComponent(open)}`)
        if (isWanted && records.some(({ record }) => record.kind === 'end'))
          onEnd({ call: open, state: 'ended', ...(result !== undefined && { result }) })
      } catch (error) {
        // One that waits has no records yet.
        if (!isWanted || (error instanceof ApiError && error.status === 404)) return
        setFault(messageOf(error))
      }
    }
    const stop = onRecord(({ record }) => {
      if (record.kind === 'end' && record.call === open) void read()
    })
    // It may have ended before it was listened for.
    void read()
    return () => {
      isWanted = false
      stop()
    }
  }, [open])
  return fault
}

function toResult(tried: TriedRow | undefined): ToolResult | undefined {
  return tried?.result as ToolResult | undefined
}

function toError(error: object | undefined): CallError | undefined {
  return error as CallError | undefined
}

/** The text of a result, else its data, else what it says of itself. */
function toText({ content, data, summary, error }: ToolResult): string {
  const texts = content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block, null, 2)))
  const shown =
    texts.length > 0 ? texts.join('\n') : data === undefined ? summary : JSON.stringify(data, null, 2)
  return error === undefined ? shown : [error.message, ...(texts.length > 0 ? [shown] : [])].join('\n')
}
