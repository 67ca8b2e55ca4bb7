import type { RefObject } from 'preact'
import { me, type PendingApproval } from '../api.ts'
import { Countdown } from '../parts/countdown.tsx'
import { Question, WouldDo } from './question.tsx'
import type { Word } from './use-decision.ts'

interface AnswersProps {
  readonly decide: (word: Word) => void
  readonly reason: RefObject<HTMLInputElement | null>
  readonly isBusy: boolean
}

interface CardProps extends AnswersProps {
  readonly approval: PendingApproval
  /** What became of it, if it does not wait any more. */
  readonly end: string | undefined
  readonly alikes: readonly PendingApproval[]
  readonly select: (approvals: readonly PendingApproval[]) => void
}

/** One question, and what a person may answer. */
export function Card({ approval, end, alikes, select, ...answers }: CardProps) {
  return (
    <section class="card" aria-label={`Question about ${approval.request.tool}`}>
      {end !== undefined && <p class="over">Over: {end}. Press j for the next one.</p>}
      <Question key={approval.id} approval={approval} />
      {end === undefined && alikes.length > 1 && me.value?.role !== 'viewer' && (
        <button type="button" onClick={() => select(alikes)}>
          Select the {alikes.length} alike <kbd>b</kbd>
        </button>
      )}
      {end === undefined && <Answers {...answers} forSession />}
    </section>
  )
}

interface BatchProps extends AnswersProps {
  readonly selected: readonly PendingApproval[]
  readonly endOf: (approval: PendingApproval) => string | undefined
  readonly clear: () => void
}

/** Several alike calls, each with all that it would do, for one answer. */
export function Batch({ selected, endOf, clear, ...answers }: BatchProps) {
  const count = selected.filter((each) => endOf(each) === undefined).length
  return (
    <section class="card" aria-label="Selected calls">
      <h2>
        {count} selected: {selected[0]?.request.title}
      </h2>
      <p>
        Each is answered by itself, as it stands here.{' '}
        <button type="button" onClick={clear}>
          Clear <kbd>Esc</kbd>
        </button>
      </p>
      <ol class="batch">
        {selected.map((approval) => (
          <li key={approval.id}>
            <p>
              {endOf(approval) === undefined ? (
                <>
                  <code>{approval.request.tool}</code> · time left <Countdown until={approval.expiresAt} />
                </>
              ) : (
                <span class="over">Over: {endOf(approval)}.</span>
              )}
            </p>
            <WouldDo approval={approval} />
          </li>
        ))}
      </ol>
      {count > 0 && <Answers {...answers} />}
    </section>
  )
}

function Answers({ decide, reason, isBusy, forSession = false }: AnswersProps & { forSession?: boolean }) {
  if (me.value?.role === 'viewer') return <p class="empty">You may look, and not decide.</p>
  return (
    <form
      class="decide"
      onSubmit={(event) => {
        event.preventDefault()
        decide('deny')
      }}
    >
      <button type="button" class="allow" disabled={isBusy} onClick={() => decide('allow_once')}>
        Allow once <kbd>a</kbd>
      </button>
      {forSession && (
        <button type="button" disabled={isBusy} onClick={() => decide('allow_for_session')}>
          Allow for the session <kbd>s</kbd>
        </button>
      )}
      <label>
        Reason <input ref={reason} name="reason" placeholder="the model is told it" autoComplete="off" />
      </label>
      <button type="submit" class="deny" disabled={isBusy}>
        Deny <kbd>d</kbd>
      </button>
    </form>
  )
}
