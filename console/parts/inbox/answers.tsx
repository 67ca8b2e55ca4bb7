import type { RefObject } from 'preact'
import type { Decision } from './use-decisions.ts'

interface AnswersProps {
  /** How many questions are answered at once; undefined for the one that is looked at. */
  readonly count: number | undefined
  readonly isBusy: boolean
  readonly decide: (decision: Decision) => void
  readonly reason: RefObject<HTMLInputElement | null>
  /** Told when a person begins to write the reason, and ends. */
  readonly onWriting: (isNow: boolean) => void
  /** Shows the rule that would answer such calls. Absent for who may not change the policy, and for several. */
  readonly onRule: (() => void) | undefined
}

/** What a person may answer. */
export function Answers({ count, isBusy, decide, reason, onWriting, onRule }: AnswersProps) {
  const these = count === undefined ? '' : ` these ${count}`
  return (
    <form
      class="decide"
      onSubmit={(event) => {
        event.preventDefault()
        decide('deny')
      }}
    >
      <button type="button" class="allow" disabled={isBusy} onClick={() => decide('allow_once')}>
        Allow{these} once <kbd>a</kbd>
      </button>
      <button type="button" disabled={isBusy} onClick={() => decide('allow_for_session')}>
        Allow{these} for the session <kbd>s</kbd>
      </button>
      {onRule !== undefined && (
        <button type="button" class="rule" disabled={isBusy} onClick={onRule}>
          Always, as a rule <kbd>r</kbd>
        </button>
      )}
      <label>
        Reason{' '}
        <input
          ref={reason}
          name="reason"
          placeholder="told to the model"
          autoComplete="off"
          onFocus={() => onWriting(true)}
          onBlur={() => onWriting(false)}
          onKeyDown={(event) => event.key === 'Escape' && event.currentTarget.blur()}
        />
      </label>
      <button type="submit" class="deny" disabled={isBusy}>
        Deny{these} <kbd>d</kbd>
      </button>
    </form>
  )
}
