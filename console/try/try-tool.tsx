import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ask, type Json, type JsonObject, type PendingApproval } from '../api.ts'
import { onEnd, waiting as allWaiting } from '../events.ts'
import { WouldDo } from '../inbox/question.tsx'
import { describeEnd } from '../inbox/use-decision.ts'
import { Fault } from '../parts/fault.tsx'
import { Preview } from '../parts/preview.tsx'
import { Outcome, Value } from '../parts/text.tsx'
import { useChange } from '../parts/use-change.ts'
import { ObjectFields, RawControl, type Form } from './schema-field.tsx'
import { isObject, shapeOf } from './shape.ts'

interface Looked {
  readonly effect: string
  readonly steps: readonly { readonly step: string; readonly outcome: string; readonly note: string }[]
  readonly decision?: { readonly reason: string; readonly layer: string; readonly rule: string }
  readonly preview?: { readonly title: string; readonly body: string }
  readonly error?: Faulty
}

interface Faulty {
  readonly message: string
  readonly issues?: readonly { readonly pointer: string; readonly message: string }[]
}

/** As `handrail call --json` shows it. */
interface Returned {
  readonly call_id: string
  readonly outcome: string
  readonly text: string
  readonly data?: Json
  readonly error?: Faulty & { readonly reason: string }
}

interface Called {
  readonly result?: Returned
  readonly waiting?: PendingApproval
}

/** A call of the visitor's own, as the tool's input schema asks for it. */
export function TryTool({ tool, schema }: { tool: string; schema: JsonObject }) {
  const input = useSignal<Json | undefined>(undefined)
  const shape = shapeOf(schema)
  const isRaw = useSignal(shape.kind !== 'object')
  const trial = useTrial(tool)
  const form = useFaults(trial.issues)
  const given = isObject(input.value) ? input.value : {}
  const isReady = !trial.isBusy && form.isRead
  const props = {
    name: 'input',
    pointer: '',
    schema,
    isRequired: true,
    value: input.value,
    change: (next: Json | undefined) => (input.value = next),
    form,
  }
  return (
    <form
      class="try"
      aria-label={`Try ${tool}`}
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) void trial.look(given)
      }}
    >
      {isRaw.value || shape.kind !== 'object' ? (
        <WholeInput {...props} />
      ) : (
        <ObjectFields {...props} fields={shape.fields} />
      )}
      <div id="field-fault">
        <Fault text={form.faults.get('')} />
      </div>
      <div class="bar">
        <button type="submit" disabled={!isReady}>
          Look
        </button>
        <button type="button" class="allow" disabled={!isReady} onClick={() => void trial.call(given)}>
          Run
        </button>
        {shape.kind === 'object' && (
          <label>
            <input
              type="checkbox"
              checked={isRaw.value}
              onChange={({ currentTarget }) => (isRaw.value = currentTarget.checked)}
            />{' '}
            As JSON
          </label>
        )}
      </div>
      <Became trial={trial} />
    </form>
  )
}

function WholeInput(props: Omit<Parameters<typeof RawControl>[0], 'marks'>) {
  const isFaulty = props.form.faults.has('')
  return (
    <label>
      Input as JSON
      <RawControl
        {...props}
        marks={{ id: 'field', 'aria-invalid': isFaulty, 'aria-describedby': 'field-fault' }}
      />
    </label>
  )
}

/** What is wrong with the input: what the tool says of its fields, and text that is no JSON. */
function useFaults(issues: Faulty['issues'] = []): Form & { readonly isRead: boolean } {
  const unread = useSignal<ReadonlyMap<string, string>>(new Map())
  return {
    faults: new Map([...issues.map(({ pointer, message }) => [pointer, message] as const), ...unread.value]),
    isRead: unread.value.size === 0,
    setUnread(pointer, fault) {
      const others = [...unread.value].filter(([each]) => each !== pointer)
      unread.value = new Map(fault === undefined ? others : [...others, [pointer, fault]])
    },
  }
}

/** What was looked at, or called, and what came of it. */
function Became({ trial: { said, fault, looked, called } }: { trial: Trial }) {
  return (
    <>
      <p class="said" role="status">
        {said}
      </p>
      <Fault text={fault} />
      {looked !== undefined && <Look looked={looked} />}
      {called?.waiting !== undefined && <Waits approval={called.waiting} />}
      {called?.result !== undefined && <Result result={called.result} />}
    </>
  )
}

/** One session for each tab: an answer that a call waits for is found again after a reload. */
function ownSession(): string {
  const name = 'handrail.try.session'
  const known = sessionStorage.getItem(name)
  if (known !== null) return known
  const made = crypto.randomUUID()
  sessionStorage.setItem(name, made)
  return made
}

interface Trial {
  readonly isBusy: boolean
  readonly fault: string | undefined
  readonly looked: Looked | undefined
  readonly called: Called | undefined
  readonly said: string
  readonly issues: Faulty['issues']
  readonly look: (input: JsonObject) => Promise<void>
  readonly call: (input: JsonObject) => Promise<void>
}

/** Looks what a call would do, makes it, and goes on with it once a person has answered. */
function useTrial(tool: string): Trial {
  const change = useChange()
  const looked = useSignal<Looked | undefined>(undefined)
  const called = useSignal<Called | undefined>(undefined)
  const said = useSignal('')
  const last = useSignal<JsonObject>({})
  const path = `/api/tools/${encodeURIComponent(tool)}`
  const send = <Answer,>(what: string, input: JsonObject): Promise<Answer | undefined> =>
    change.make<Answer>(`${path}/${what}`, { input, session: ownSession() })
  const call = async (input: JsonObject): Promise<void> => {
    last.value = input
    looked.value = undefined
    called.value = undefined
    said.value = 'Running…'
    called.value = await send<Called>('call', input)
    said.value = ''
  }
  const open = called.value?.waiting?.id
  useEffect(
    () =>
      onEnd((told) => {
        if (told.approval.id !== open) return
        // Only an answer lets it go on: else it would ask anew.
        if (told.event === 'decided') return void call(last.value)
        called.value = undefined
        said.value = `It was not run: ${describeEnd(told)}.`
      }),
    [open],
  )
  return {
    isBusy: change.isBusy,
    fault: change.fault,
    looked: looked.value,
    called: called.value,
    said: said.value,
    issues: (looked.value?.error ?? called.value?.result?.error)?.issues,
    call,
    async look(input: JsonObject): Promise<void> {
      called.value = undefined
      looked.value = await send<Looked>('preflight', input)
    },
  }
}

const effects: ReadonlyMap<string, string> = new Map([
  ['allow', 'It would run at once.'],
  ['ask', 'A person would be asked first.'],
  ['deny', 'It would be denied.'],
])

function Look({ looked: { effect, steps, decision, preview, error } }: { looked: Looked }) {
  return (
    <section aria-label="What it would do">
      <h3>{effects.get(effect) ?? effect}</h3>
      {decision !== undefined && (
        <p>
          {decision.reason} ({decision.layer}: {decision.rule})
        </p>
      )}
      <Fault text={error?.message} />
      {preview !== undefined && <Preview title={preview.title} body={preview.body} />}
      <details>
        <summary>Step by step</summary>
        <ol class="steps">
          {steps.map(({ step, outcome, note }) => (
            <li key={step}>
              {step}: <Outcome outcome={outcome} /> {note}
            </li>
          ))}
        </ol>
      </details>
    </section>
  )
}

/** The question that the call waits for, to be answered here or anywhere else. */
function Waits({ approval }: { approval: PendingApproval }) {
  const fault = useSignal<string | undefined>(undefined)
  const decide = async (decision: 'allow_once' | 'deny'): Promise<void> => {
    const path = `/api/approvals/${encodeURIComponent(approval.id)}`
    try {
      await ask(path, { decision, digest: approval.digest })
    } catch (error) {
      fault.value = error instanceof Error ? error.message : String(error)
    }
  }
  return (
    <section class="card" aria-label="It waits for a person">
      <h3>It waits for a person's yes</h3>
      <p>
        {approval.request.because.reason} It goes on when somebody answers, here or in the{' '}
        <a href="/inbox">inbox</a>.
      </p>
      <WouldDo approval={approval} />
      <Fault text={fault.value} />
      {allWaiting.value.has(approval.id) && (
        <div class="decide">
          <button type="button" class="allow" onClick={() => void decide('allow_once')}>
            Allow once
          </button>
          <button type="button" class="deny" onClick={() => void decide('deny')}>
            Deny
          </button>
        </div>
      )}
    </section>
  )
}

function Result({ result: { outcome, text, data, call_id: call, error } }: { result: Returned }) {
  return (
    <section aria-label="Result">
      <h3>
        <Outcome outcome={outcome} reason={error?.reason} />
      </h3>
      <p>
        <a href={`/calls/${encodeURIComponent(call)}`}>The call, and why it was decided so</a>
      </p>
      <Value value={text} label="Text of the result" />
      {data !== undefined && (
        <details>
          <summary>Data</summary>
          <Value value={data} label="Data of the result" />
        </details>
      )}
    </section>
  )
}
