import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { may, type PendingApproval } from '../api.ts'
import { beginning, ended } from '../events.ts'
import { Fault } from '../parts/fault.tsx'
import { Answers } from '../parts/inbox/answers.tsx'
import { NoticeSwitches } from '../parts/inbox/notices.tsx'
import { Question, Questions } from '../parts/inbox/question.tsx'
import { useChoice, type Choice } from '../parts/inbox/use-choice.ts'
import { useDecisions, type Decision, type Result } from '../parts/inbox/use-decisions.ts'
import { useKeys } from '../parts/inbox/use-keys.ts'
import { WaitingList } from '../parts/inbox/waiting-list.tsx'
import { RuleOfferCard } from '../policy/rule-offer.tsx'
import { useChange } from '../parts/use-change.ts'

/** What waits for a person, by session, the nearest deadline first. */
export function InboxPage() {
  const inbox = useInbox()
  const { choice, said, results } = inbox
  return (
    <>
      <div class="head">
        <h1>Inbox</h1>
        <NoticeSwitches />
      </div>
      <p class="said" role="status">
        {said}
      </p>
      {results.length > 0 && (
        <ul class="results" aria-label="What became of them">
          {results.map(({ question, text, isDone }) => (
            <li key={question.id} class={isDone ? '' : 'fault'}>
              <code>{question.request.inputSummary}</code> {text}
            </li>
          ))}
        </ul>
      )}
      <Fault text={inbox.fault} />
      {choice.groups.length === 0 && choice.picked.length === 0 && !choice.isWriting ? (
        <p class="empty">
          {beginning.value === 0
            ? 'Loading…'
            : 'Nothing waits for you. What a policy asks about shows up here by itself.'}
        </p>
      ) : (
        <div class="split">
          <div>
            <WaitingList choice={choice} />
            <KeyHints choice={choice} />
          </div>
          <Card inbox={inbox} />
        </div>
      )}
    </>
  )
}

/** The keys that no button shows. */
function KeyHints({ choice: { groups, picked } }: { choice: Choice }) {
  const count = groups.reduce((sum, { questions }) => sum + questions.length, 0)
  if (count < 2) return null
  return (
    <p class="hints">
      <kbd>j</kbd> <kbd>k</kbd> next, previous · <kbd>x</kbd> pick · <kbd>X</kbd> pick all alike
      {picked.length > 0 && (
        <>
          {' '}
          · <kbd>Esc</kbd> none
        </>
      )}
    </p>
  )
}

type Inbox = ReturnType<typeof useInbox>

function Card({ inbox }: { inbox: Inbox }) {
  const { choice, ruling } = inbox
  const { current, picked } = choice
  if (current === undefined && picked.length === 0) return null
  const [first = current] = picked
  const name = first?.request.tool ?? ''
  const isOne = picked.length === 0
  const isOver = isOne && choice.isOver
  return (
    <section class="card" aria-label={isOne ? `Question about ${name}` : `${picked.length} of ${name}`}>
      {isOver && current !== undefined ? (
        <Over question={current} choice={choice} />
      ) : isOne && current !== undefined ? (
        <Question key={current.id} question={current} />
      ) : (
        <Questions questions={picked} isOver={({ id }) => ended.value.has(id)} />
      )}
      {/* What a person writes when it ends stays a reason: its letters are keys anywhere else. */}
      {(!isOver || choice.isWriting) && <Decide key="decide" inbox={inbox} first={first} isOver={isOver} />}
      {!isOne && (
        <button type="button" onClick={choice.drop}>
          Decide each by itself <kbd>Esc</kbd>
        </button>
      )}
      {isOne && !isOver && current !== undefined && ruling === current.id && (
        <RuleOfferCard
          key={current.id}
          approval={current.id}
          isBusy={inbox.isBusy}
          onAllow={inbox.allowAsRule}
          onLeave={inbox.leaveRule}
        />
      )}
    </section>
  )
}

interface DecideProps {
  readonly inbox: Inbox
  readonly first: PendingApproval | undefined
  readonly isOver: boolean
}

/** What a person may answer, if they may. */
function Decide({ inbox, first, isOver }: DecideProps) {
  if (!may('approver', first?.tenant)) return <p class="empty">You may look, and not decide.</p>
  const count = inbox.choice.picked.length
  return (
    <Answers
      count={count === 0 ? undefined : count}
      isBusy={inbox.isBusy || isOver}
      decide={inbox.answered}
      reason={inbox.reason}
      onWriting={inbox.choice.onWriting}
      onRule={count === 0 && may('operator', first?.tenant) ? inbox.lookAtRule : undefined}
    />
  )
}

/** A question that was looked at when it ended by another way. No other takes its place under the person's hands. */
function Over({ question, choice }: { question: PendingApproval; choice: Choice }) {
  return (
    <>
      <h2>{question.request.title} waits no more</h2>
      <p>{describeEnd(question)}</p>
      <button type="button" onClick={() => choice.step(1)}>
        Next <kbd>j</kbd>
      </button>
    </>
  )
}

function describeEnd({ id }: PendingApproval): string {
  const told = ended.value.get(id)
  const last = told?.approval.answers.at(-1)
  if (told?.event === 'expired') return 'Its time is over.'
  if (told?.event === 'decided' && last !== undefined)
    return `${last.by} answered it: ${last.decision === 'deny' ? 'denied' : 'allowed'}.`
  return 'Its call ended, or the connection to the server is lost.'
}

/** What the page knows and does. */
function useInbox() {
  const decisions = useDecisions()
  const choice = useChoice(decisions.hidden)
  const reason = useRef<HTMLInputElement>(null)
  const change = useChange()
  const said = useSignal('')
  const results = useSignal<readonly Result[]>([])
  const fault = useSignal<string | undefined>(undefined)
  /** The question whose rule is looked at. */
  const ruling = useSignal<string | undefined>(undefined)
  const { current, picked } = choice
  const isBusy = decisions.isBusy || change.isBusy
  const tell = (text: string, each: readonly Result[] = [], wrong?: string): void => {
    said.value = text
    results.value = each
    fault.value = wrong
  }
  const takeReason = (): string => {
    const text = reason.current?.value.trim() ?? ''
    if (reason.current !== null) reason.current.value = ''
    // What is typed next is a key again.
    reason.current?.blur()
    return text
  }
  const decide = async (decision: Decision): Promise<void> => {
    const one = choice.isOver ? undefined : current
    const questions = picked.length > 0 ? picked : one === undefined ? [] : [one]
    const [first] = questions
    if (isBusy || first === undefined || !may('approver', first.tenant)) return
    tell('')
    choice.drop()
    choice.leave(questions)
    const done = await decisions.decide(questions, { decision, reason: takeReason() })
    if (picked.length > 0) tell(sumUp(done, decision), done)
    else
      for (const { isDone, text } of done)
        tell(isDone ? sayDone(first, text) : '', [], isDone ? undefined : `${first.request.tool}: ${text}`)
  }
  const allowAsRule = async (policy: string): Promise<void> => {
    if (current === undefined) return
    const text = reason.current?.value.trim() ?? ''
    const path = `/api/approvals/${encodeURIComponent(current.id)}/rule`
    const given = { digest: current.digest, policy, ...(text !== '' && { reason: text }) }
    tell('')
    const done = await change.make<{ readonly version: number }>(path, given)
    if (done === undefined) return
    takeReason()
    choice.leave([current])
    decisions.hide(current)
    tell(`Allowed, and always from now on: ${current.request.tool} (version ${done.version} of the policy)`)
  }
  const lookAtRule = (): void => {
    if (picked.length === 0 && may('operator', current?.tenant)) ruling.value = current?.id
  }
  useKeys({
    j: () => choice.step(1),
    k: () => choice.step(-1),
    x: () => current !== undefined && !choice.isOver && pickOrTell(choice, current, tell),
    X: () => {
      if (current !== undefined && !choice.pickAlike(current)) tell('Nothing else that waits is like it.')
    },
    Escape: choice.drop,
    a: () => void decide('allow_once'),
    s: () => void decide('allow_for_session'),
    d: () => reason.current?.focus(),
    r: lookAtRule,
  })
  return {
    choice,
    reason,
    isBusy,
    said: said.value,
    results: results.value,
    fault: fault.value ?? change.fault,
    ruling: ruling.value,
    answered: (decision: Decision) => void decide(decision),
    allowAsRule: (policy: string) => void allowAsRule(policy),
    lookAtRule,
    leaveRule: () => void (ruling.value = undefined),
  }
}

function pickOrTell(choice: Choice, question: PendingApproval, tell: (text: string) => void): void {
  if (choice.mayPick(question)) choice.pick(question)
  else
    tell(
      'Only calls of one tool and session, asked about by one rule and not dangerous, are decided together.',
    )
}

/** Such as `Allowed: shop.refund`. */
function sayDone({ request }: PendingApproval, text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}: ${request.tool}`
}

/** Such as `Allowed 2 of 3: shop.refund`. */
function sumUp(results: readonly Result[], decision: Decision): string {
  const done = results.filter(({ isDone }) => isDone).length
  const tool = results[0]?.question.request.tool ?? ''
  return `${decision === 'deny' ? 'Denied' : 'Allowed'} ${done} of ${results.length}: ${tool}`
}
