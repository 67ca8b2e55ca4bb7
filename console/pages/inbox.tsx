import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { may, type ApprovalDetail, type PendingApproval } from '../api.ts'
import { waiting } from '../events.ts'
import { CallTable } from '../parts/call-table.tsx'
import { Fault } from '../parts/fault.tsx'
import { RuleOfferCard } from '../parts/rule-offer.tsx'
import { Preview, toAge } from '../parts/text.tsx'
import { useAsked } from '../parts/use-asked.ts'
import { useChange } from '../parts/use-change.ts'

type Decision = 'allow_once' | 'allow_for_session' | 'deny'

/** What waits for a person, the nearest deadline first. */
export function InboxPage() {
  const chosen = useSignal<string | undefined>(undefined)
  const list = [...waiting.value.values()].sort((one, other) => one.expiresAt - other.expiresAt)
  const current = list.find(({ id }) => id === chosen.value) ?? list[0]
  const reason = useRef<HTMLInputElement>(null)
  const { decide, decideAsRule, isBusy, fault, said } = useDecision(current, reason)
  /** The question whose rule is looked at. */
  const ruling = useSignal<string | undefined>(undefined)
  const step = (by: number): void => {
    const at = list.findIndex(({ id }) => id === current?.id) + by
    chosen.value = list[Math.min(Math.max(at, 0), list.length - 1)]?.id
  }
  useKeys({
    j: () => step(1),
    k: () => step(-1),
    a: () => void decide('allow_once'),
    s: () => void decide('allow_for_session'),
    d: () => reason.current?.focus(),
    r: () => void (may('operator', current?.tenant) && (ruling.value = current?.id)),
  })
  return (
    <>
      <h1>Inbox</h1>
      <p class="said" role="status">
        {said}
      </p>
      <Fault text={fault} />
      {current === undefined ? (
        <p class="empty">Nothing waits for you. What a policy asks about shows up here by itself.</p>
      ) : (
        <div class="split">
          <ol class="list" aria-label="What waits">
            {list.map((each) => (
              <li key={each.id}>
                <button
                  type="button"
                  aria-current={each.id === current.id}
                  onClick={() => (chosen.value = each.id)}
                >
                  <strong>{each.request.tool}</strong>
                  <small>
                    {each.request.principal.actor} · {each.request.title}
                  </small>
                  <small>ends {toAge(Date.now() - each.expiresAt)}</small>
                </button>
              </li>
            ))}
          </ol>
          <section class="card" aria-label={`Question about ${current.request.tool}`}>
            <Question key={current.id} approval={current} />
            {!may('approver', current.tenant) ? (
              <p class="empty">You may look, and not decide.</p>
            ) : (
              <Answers
                decide={decide}
                reason={reason}
                onRule={may('operator', current.tenant) ? () => (ruling.value = current.id) : undefined}
              />
            )}
            {ruling.value === current.id && (
              <RuleOfferCard
                key={current.id}
                approval={current.id}
                isBusy={isBusy}
                onAllow={(policy) => void decideAsRule(policy)}
                onLeave={() => (ruling.value = undefined)}
              />
            )}
          </section>
        </div>
      )}
    </>
  )
}

/** Decides about what is shown, and tells what became of that. */
function useDecision(current: PendingApproval | undefined, reason: RefObject<HTMLInputElement | null>) {
  const change = useChange()
  const said = useSignal('')
  const decide = async (decision: Decision): Promise<void> => {
    if (current === undefined || !may('approver', current.tenant)) return
    const text = reason.current?.value.trim() ?? ''
    const path = `/api/approvals/${encodeURIComponent(current.id)}`
    const given = { decision, digest: current.digest, ...(text !== '' && { reason: text }) }
    if ((await change.make(path, given)) === undefined) return
    if (reason.current !== null) reason.current.value = ''
    said.value = `${decision === 'deny' ? 'Denied' : 'Allowed'}: ${current.request.tool}`
  }
  const decideAsRule = async (policy: string): Promise<void> => {
    if (current === undefined) return
    const text = reason.current?.value.trim() ?? ''
    const path = `/api/approvals/${encodeURIComponent(current.id)}/rule`
    const given = { digest: current.digest, policy, ...(text !== '' && { reason: text }) }
    const done = await change.make<{ readonly version: number }>(path, given)
    if (done === undefined) return
    if (reason.current !== null) reason.current.value = ''
    said.value = `Allowed, and always from now on: ${current.request.tool} (version ${done.version} of the policy)`
  }
  return { decide, decideAsRule, isBusy: change.isBusy, fault: change.fault, said: said.value }
}

/** Keys that do something wherever the person is, unless they write. */
function useKeys(keys: { readonly [key: string]: () => void }): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const act = keys[event.key]
      const isWriting = event.target instanceof HTMLInputElement
      if (act === undefined || isWriting || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      act()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}

interface AnswersProps {
  readonly decide: (decision: Decision) => Promise<void>
  readonly reason: RefObject<HTMLInputElement | null>
  /** Shows the rule that would answer such calls. Absent for who may not change the policy. */
  readonly onRule: (() => void) | undefined
}

function Answers({ decide, reason, onRule }: AnswersProps) {
  return (
    <form
      class="decide"
      onSubmit={(event) => {
        event.preventDefault()
        void decide('deny')
      }}
    >
      <button type="button" class="allow" onClick={() => void decide('allow_once')}>
        Allow once <kbd>a</kbd>
      </button>
      <button type="button" onClick={() => void decide('allow_for_session')}>
        Allow for the session <kbd>s</kbd>
      </button>
      {onRule !== undefined && (
        <button type="button" onClick={onRule}>
          Always, as a rule <kbd>r</kbd>
        </button>
      )}
      <label>
        Reason <input ref={reason} name="reason" placeholder="the model is told it" autoComplete="off" />
      </label>
      <button type="submit" class="deny">
        Deny <kbd>d</kbd>
      </button>
    </form>
  )
}

function Question({ approval }: { approval: PendingApproval }) {
  const { request } = approval
  const { answer, fault } = useAsked<ApprovalDetail>(`/api/approvals/${encodeURIComponent(approval.id)}`)
  const rows: readonly (readonly [string, string])[] = [
    ['Who', describeWho(approval)],
    ['Why it asks', `${request.because.reason} (${request.because.layer}: ${request.because.rule})`],
    ['Input', request.inputSummary],
    ['A yes for the session covers', request.scope],
    ...(request.cwd === undefined ? [] : [['Folder', request.cwd] as const]),
    ...(request.hosts.length === 0 ? [] : [['Hosts', request.hosts.join(', ')] as const]),
    ...(request.env.length === 0 ? [] : [['Variables', request.env.join(', ')] as const]),
    ...(request.hookNotes.length === 0 ? [] : [['Hooks', request.hookNotes.join(' ')] as const]),
    ...(approval.needed < 2
      ? []
      : [
          [
            'Yeses',
            `${approval.answers.length} of ${approval.needed}: ${approval.answers.map(({ by }) => by).join(', ')}`,
          ] as const,
        ]),
  ]
  return (
    <>
      <h2>
        {request.title}
        {request.dangerous && <span class="tag danger">dangerous</span>}
        {request.ran && <span class="tag">ran already; nothing landed yet</span>}
      </h2>
      <Preview title={request.preview.title} body={request.preview.body} />
      {request.preview.asOfNow !== undefined && <p>{request.preview.asOfNow}</p>}
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Fault text={fault} />
      {answer !== undefined && (
        <>
          <p>
            {answer.earlier.calls === 0
              ? 'This actor has not called this tool before.'
              : `Of the last ${answer.earlier.calls} calls of this tool by this actor ${answer.earlier.ok} went well, and ${answer.earlier.denied} were denied.`}
          </p>
          <details>
            <summary>Just before in this session</summary>
            <CallTable calls={answer.before} label="Just before in this session" />
          </details>
        </>
      )}
    </>
  )
}

function describeWho({ tenant, request: { principal, parents } }: PendingApproval): string {
  const agent = principal.agent === undefined ? '' : `, agent ${JSON.stringify(principal.agent)}`
  const below = parents.map(({ role, session }) => `, below ${role} ${session}`).join('')
  return `${principal.actor} of ${tenant} as ${principal.role}${agent}${below}`
}
