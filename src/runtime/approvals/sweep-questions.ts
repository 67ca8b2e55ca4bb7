import type { FactChange } from '../../contract/store.ts'
import { isFactChanged } from '../../kit/result/is-fact-changed.ts'
import type { KeptQuestion } from '../state/approval-book.ts'
import { toNote, type ApprovalSurroundings } from './decide.ts'
import { isUnanswered, markOver, takeBack } from './stored-question.ts'

/** A question is listed for so long after its time, and at least so long after a process noted that it is over. */
const keptMs = 86_400_000
/** How often it is looked for them. */
const pauseMs = 60_000
/** Questions at a time. */
const mostAtOnce = 100

/**
 * Forgets questions that are over for long, a few at a time, in two steps: a process notes that one is over; once the time of a question has passed since
 * then, it is forgotten, with its end in the evidence. So a clock that is ahead, and is put right, takes no question from others. Never rejects.
 */
export function createSweep(
  around: ApprovalSurroundings,
): (questions: Iterable<KeptQuestion>) => Promise<void> {
  let last = Number.NEGATIVE_INFINITY
  return async (questions) => {
    const time = around.now()
    if (Math.abs(time - last) < pauseMs) return
    last = time
    const steps: Promise<void>[] = []
    for (const question of questions) {
      if (steps.length >= mostAtOnce) break
      if (question.approval.expiresAt + keptMs > time) continue
      if (question.overSince === undefined || question.overSince > time)
        steps.push(around.store.append([], { facts: [markOver(question, time)] }))
      else if (time - question.overSince >= restOf(question)) steps.push(forget(question, time, around))
    }
    for (const { status, ...settled } of await Promise.allSettled(steps))
      if (status === 'rejected' && 'reason' in settled && !isFactChanged(settled.reason))
        around.logError(settled.reason)
  }
}

/** By then it is over for a clock that is right too, whatever the clock said that noted it. */
function restOf({ approval: { askedAt, expiresAt } }: KeptQuestion): number {
  return Math.max(keptMs, expiresAt - askedAt)
}

async function forget(
  question: KeptQuestion,
  time: number,
  { store, evidence, announce }: ApprovalSurroundings,
): Promise<void> {
  const { approval } = question
  const facts: FactChange[] = [takeBack(question)]
  // A no, and what a call used, are in the evidence already.
  if (approval.usedBy !== undefined || approval.answers.some(({ decision }) => decision === 'deny'))
    return store.append([], { facts })
  const note = toNote('approval_expired', approval, {
    at: time,
    by: approval.request.principal.actor,
    message: isUnanswered(approval)
      ? `${approval.id} was not answered in time: ${approval.request.tool} for ${approval.request.principal.actor} did not run`
      : `${approval.id} was allowed, and its call did not come back: ${approval.request.tool} for ${approval.request.principal.actor} did not run`,
    data: { expiresAt: approval.expiresAt },
  })
  await evidence.tell(note, { facts })
  announce(note)
}
