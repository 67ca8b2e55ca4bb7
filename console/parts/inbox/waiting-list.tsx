import { useEffect, useRef } from 'preact/hooks'
import { may, type PendingApproval } from '../../api.ts'
import { Countdown } from './countdown.tsx'
import { isAlike, type Choice } from './use-choice.ts'

/** What waits, by session. */
export function WaitingList({ choice }: { choice: Choice }) {
  return (
    <div class="waiting" role="group" aria-label="What waits">
      {choice.groups.map(({ tenant, session, questions }) => {
        const [first] = questions
        if (first === undefined) return null
        return (
          <section key={`${tenant} ${session}`} aria-label={`Session ${session}`}>
            <p class="session">
              {first.request.principal.actor} of {tenant} <small>{session}</small>
            </p>
            <ol class="list" aria-label={`What waits in session ${session}`}>
              {questions.map((question) => (
                <Item key={question.id} question={question} choice={choice} />
              ))}
            </ol>
            {findRepeated(questions).map((question) => (
              <button key={question.id} type="button" class="link" onClick={() => choice.pickAlike(question)}>
                Pick all {questions.filter((each) => isAlike(each, question)).length} of{' '}
                {question.request.tool}
              </button>
            ))}
          </section>
        )
      })}
    </div>
  )
}

function Item({ question, choice }: { question: PendingApproval; choice: Choice }) {
  const { id, request, expiresAt } = question
  const isCurrent = choice.current?.id === id
  const button = useRef<HTMLButtonElement>(null)
  const isPressed = useRef(false)
  const show = (): void => {
    // On a narrow screen the question stands below the list, where it would change unseen.
    const isBelow = isPressed.current && matchMedia('(width < 48rem)').matches
    const card = isBelow ? button.current?.closest('.split')?.querySelector('.card') : undefined
    const shown = card ?? button.current
    shown?.scrollIntoView({ block: 'nearest' })
    isPressed.current = false
  }
  useEffect(() => {
    if (isCurrent) show()
  }, [isCurrent])
  return (
    <li class="item">
      {may('approver', question.tenant) && (
        <input
          type="checkbox"
          aria-label={`Decide ${request.title} ${request.inputSummary} together with others`}
          checked={choice.picked.some((each) => each.id === id)}
          disabled={!choice.mayPick(question)}
          onChange={() => choice.pick(question)}
        />
      )}
      <button
        type="button"
        ref={button}
        aria-current={isCurrent}
        onClick={() => {
          isPressed.current = true
          if (isCurrent) show()
          else choice.choose(id)
        }}
      >
        <strong>{request.tool}</strong>
        <Countdown until={expiresAt} />
        <small>
          {request.title}
          {request.dangerous && <span class="tag danger">dangerous</span>}
        </small>
        <small class="input">{request.inputSummary}</small>
      </button>
    </li>
  )
}

/** The first of each set of alike questions, if the person may decide about them. */
function findRepeated(questions: readonly PendingApproval[]): readonly PendingApproval[] {
  return questions.filter((question) => {
    const alike = questions.filter((each) => isAlike(each, question))
    return alike.length > 1 && alike[0] === question && may('approver', question.tenant)
  })
}
