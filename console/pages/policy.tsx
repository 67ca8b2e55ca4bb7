import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import {
  ask,
  type FaultRow,
  type ForesightRow,
  type PolicyPage as PolicyAnswer,
  type SuggestionRow,
  type SuggestionsAnswer,
} from '../api.ts'
import { onRecord } from '../events.ts'
import { Fault } from '../parts/fault.tsx'
import { Foresight } from '../policy/foresight.tsx'
import { NotThereYet } from '../parts/not-there-yet.tsx'
import { PolicyEditor } from '../policy/policy-editor.tsx'
import { PolicyRules } from '../policy/policy-rules.tsx'
import { PolicyVersions } from '../policy/policy-versions.tsx'
import { Suggestion, textOf } from '../policy/suggestion.tsx'
import { countOf } from '../parts/text.tsx'
import { useAsked, type Asked } from '../parts/use-asked.ts'
import { useChange } from '../parts/use-change.ts'

/** The policy: its rules, rules that would have answered people's work, its file and what that said before. */
export function PolicyPage() {
  const saved = useSignal(0)
  const { answer, fault, again } = useAsked<PolicyAnswer>(`/api/policy?saved=${saved.value}`)
  // The server takes a file over in its own time.
  useEffect(
    () =>
      onRecord(({ record }) => {
        if (record.kind === 'note' && /^policy_(?:changed|refused)$/.test(record.event)) again()
      }),
    [],
  )
  const draft = useDraft(answer, () => {
    saved.value += 1
    again()
  })
  const suggestions = useAsked<SuggestionsAnswer>(`/api/policy/suggestions?saved=${saved.value}`)
  // What comes later would push what is there.
  const isWhole = (suggestions.answer ?? suggestions.fault) !== undefined
  if (answer === undefined) return <NotThereYet fault={fault} />
  const mayEdit = answer.readOnly === undefined
  return (
    <>
      <h1>Policy</h1>
      <p>
        Version {answer.version} since this server started, mode {answer.mode}
        {answer.file !== undefined && (
          <>
            , from <code>{answer.file}</code>
          </>
        )}
      </p>
      <Fault text={fault} />
      {answer.faults.length > 0 && (
        <p class="fault" role="alert">
          The file cannot be used as it is now. The version before it is in force.
        </p>
      )}
      {!mayEdit && <p class="empty">{answer.readOnly}</p>}
      <PolicyRules rules={answer.rules} />
      <Suggestions asked={suggestions} isBusy={draft.isBusy} onAdd={mayEdit ? draft.add : undefined} />
      {isWhole && answer.text !== undefined && <Editor draft={draft} isReadOnly={!mayEdit} />}
      {isWhole && answer.file !== undefined && (
        <PolicyVersions saved={saved.value} isBusy={draft.isBusy} onBack={mayEdit ? draft.back : undefined} />
      )}
    </>
  )
}

/** What a person makes of the policy, until it is saved. */
interface Draft {
  readonly text: string
  readonly isChanged: boolean
  /** Of the text as it stands. */
  readonly foresight: ForesightRow | undefined
  /** Of the text as it was a moment ago. */
  readonly faults: readonly FaultRow[]
  readonly said: string
  readonly fault: string | undefined
  readonly isBusy: boolean
  readonly write: (text: string) => void
  readonly look: () => void
  readonly save: () => void
  readonly drop: () => void
  readonly add: (suggestion: SuggestionRow) => void
  readonly back: (text: string, version: number) => void
}

interface Written {
  readonly text: string
  /** Of the file that was changed. */
  readonly digest: string
  readonly reason?: string
}

/** The file as this page saved it, until the API tells of it too. */
interface Saved {
  readonly text: string
  readonly digest: string
  /** Of the file before. */
  readonly before: string
}

function useDraft(answered: PolicyAnswer | undefined, onSaved: () => void): Draft {
  const saved = useSignal<Saved | undefined>(undefined)
  const isKnown = saved.value === undefined || answered?.digest !== saved.value.before
  useEffect(() => {
    if (isKnown) saved.value = undefined
  }, [isKnown])
  const present = isKnown ? answered : saved.value
  const written = useSignal<Written | undefined>(undefined)
  const seen = useSignal<{ readonly text: string; readonly foresight: ForesightRow } | undefined>(undefined)
  const said = useSignal('')
  const { make, isBusy, fault } = useChange()
  const text = written.value?.text ?? present?.text ?? ''
  const write = (next: string, reason?: string): void => {
    const digest = written.value?.digest ?? present?.digest ?? ''
    written.value = { text: next, digest, ...(reason !== undefined && { reason }) }
    said.value = ''
  }
  const look = async (looked: string): Promise<void> => {
    const foresight = await make<ForesightRow>('/api/policy/foresight', { text: looked })
    if (foresight === undefined) return
    seen.value = { text: looked, foresight }
    document.getElementById('foresight')?.scrollIntoView({ block: 'nearest' })
  }
  const change = (next: string, reason: string): void => {
    write(next, reason)
    void look(next)
  }
  const forget = (): void => {
    written.value = undefined
    seen.value = undefined
  }
  const save = async (): Promise<void> => {
    const { digest = '', reason } = written.value ?? {}
    const despiteCases = (seen.value?.foresight.failures.length ?? 0) > 0
    const sent = { text, digest, despiteCases, ...(reason !== undefined && { reason }) }
    const done = await make<{ readonly version: number; readonly digest: string }>('/api/policy', sent)
    if (done === undefined) return
    saved.value = { text, digest: done.digest, before: digest }
    // What was written meanwhile stays, as a change of what was saved.
    const later = written.value?.text ?? text
    forget()
    if (later !== text) written.value = { text: later, digest: done.digest }
    said.value = `Version ${done.version} is saved. It holds from the next call on.`
    onSaved()
  }
  const add = async (suggestion: SuggestionRow): Promise<void> => {
    const { tenant, rule } = suggestion
    const before = written.value
    const given = { text: before?.text ?? text, tenant, rule }
    const added = await make<{ readonly text: string }>('/api/policy/draft', given)
    if (added === undefined) return
    // What was written meanwhile gets the rule too.
    if (written.value !== before) return add(suggestion)
    change(added.text, `the suggested rule "${textOf(rule['id'])}"`)
  }
  const isChanged = written.value !== undefined && text !== present?.text
  const checked = useFaults(isChanged ? text : undefined)
  return {
    text,
    isChanged,
    foresight: seen.value?.text === text ? seen.value.foresight : undefined,
    faults: isChanged ? checked : ((isKnown ? answered?.faults : undefined) ?? []),
    said: said.value,
    fault,
    isBusy,
    write,
    look: () => void look(text),
    drop: forget,
    save: () => void save(),
    add: (suggestion) => void add(suggestion),
    back: (next, version) => change(next, `back to version ${version}`),
  }
}

/** For so long a person has not typed before the text is checked. */
const restMs = 300

/** What is wrong with a text, as soon as a person rests; of none, nothing. */
function useFaults(text: string | undefined): readonly FaultRow[] {
  const found = useSignal<readonly FaultRow[]>([])
  useEffect(() => {
    if (text === undefined) {
      found.value = []
      return undefined
    }
    let isWanted = true
    const timer = setTimeout(() => {
      ask<{ readonly faults: readonly FaultRow[] }>('/api/policy/check', { text }).then(
        ({ faults }) => isWanted && (found.value = faults),
        // It is told once the person looks what would change, or saves.
        () => undefined,
      )
    }, restMs)
    return () => {
      isWanted = false
      clearTimeout(timer)
    }
  }, [text])
  return found.value
}

interface SuggestionsProps {
  readonly asked: Asked<SuggestionsAnswer>
  readonly isBusy: boolean
  readonly onAdd: ((suggestion: SuggestionRow) => void) | undefined
}

function Suggestions({ asked: { answer, fault }, isBusy, onAdd }: SuggestionsProps) {
  return (
    <>
      <h2>Suggestions</h2>
      {answer === undefined && <NotThereYet fault={fault} />}
      {answer?.suggested.length === 0 && (
        <p class="empty">In the last seven days, people did not say yes twice to what a rule could answer.</p>
      )}
      <ul class="suggestions" aria-label="Suggested rules">
        {answer?.suggested.map((suggestion) => (
          <li key={textOf(suggestion.rule['id'])} class="card">
            <Suggestion suggestion={suggestion} />
            {onAdd !== undefined && (
              <p>
                <button
                  type="button"
                  class="allow"
                  disabled={isBusy}
                  aria-label={`Try the rule "${textOf(suggestion.rule['id'])}"`}
                  onClick={() => onAdd(suggestion)}
                >
                  Try this rule
                </button>
              </p>
            )}
          </li>
        ))}
      </ul>
      {answer !== undefined && answer.withoutRule.length > 0 && (
        <details>
          <summary>
            {countOf(answer.withoutRule.length, 'repeated approval')} that no rule would answer
          </summary>
          <ul aria-label="Approvals without a rule">
            {answer.withoutRule.map(({ tool, tenant, calls, reason }) => (
              <li key={`${tenant} ${tool} ${reason}`}>
                {countOf(calls.length, 'call')} of <strong>{tool}</strong> of {tenant}: {reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

interface EditorProps {
  readonly draft: Draft
  readonly isReadOnly: boolean
}

function Editor({ draft, isReadOnly }: EditorProps) {
  const { text, foresight, isChanged, isBusy } = draft
  const heading = useRef<HTMLHeadingElement>(null)
  const failures = foresight?.failures.length ?? 0
  const foreseen = foresight?.faults ?? []
  const faults = foreseen.length > 0 ? foreseen : draft.faults
  const maySave = isChanged && foresight !== undefined && foresight.faults.length === 0
  return (
    <>
      <h2 ref={heading}>The file</h2>
      <PolicyEditor text={text} faults={faults} isReadOnly={isReadOnly} onInput={draft.write} />
      <p class="said" role="status">
        {draft.said}
        {isChanged &&
          foresight === undefined &&
          !isBusy &&
          'Changed, and not saved yet. Save it once you have seen what changes.'}
      </p>
      <Fault text={draft.fault} />
      <div id="foresight">
        {foresight !== undefined && foresight.faults.length === 0 && <Foresight foresight={foresight} />}
      </div>
      {!isReadOnly && (
        <div class="bar">
          <button type="button" disabled={isBusy} onClick={draft.look}>
            See what changes
          </button>
          <button type="button" class="allow" disabled={isBusy || !maySave} onClick={draft.save}>
            {failures > 0 ? `Save, although ${countOf(failures, 'case')} fail` : 'Save'}
          </button>
          {isChanged && (
            <button type="button" disabled={isBusy} onClick={draft.drop}>
              Drop the change
            </button>
          )}
        </div>
      )}
    </>
  )
}
