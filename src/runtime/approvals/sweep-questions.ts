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
): (questions: Iterable<KeptQuestion>) => Promise<void> | undefined {
  let last = Number.NEGATIVE_INFINITY
  return (questions) => {
    const time = around.now()
    if (Math.abs(time - last) < pauseMs) return undefined
    last = time
    const over = findOver(questions, time)
    return over.length === 0 ? undefined : sweepAll(over, time, around)
  }
}

/** Those that a step is to be taken with. */
function findOver(questions: Iterable<KeptQuestion>, time: number): KeptQuestion[] {
  const over: KeptQuestion[] = []
  for (const question of questions) {
    if (question.approval.expiresAt + keptMs > time) continue
    if (isNoted(question, time) && time - question.overSince < restOf(question)) continue
    if (over.push(question) >= mostAtOnce) break
  }
  return over
}

async function sweepAll(
  over: readonly KeptQuestion[],
  time: number,
  around: ApprovalSurroundings,
): Promise<void> {
  const settled = await Promise.allSettled(
    over.map(async (question) =>
      isNoted(question, time)
        ? forget(question, time, around)
        : around.store.append([], { facts: [markOver(question, time)] }),
    ),
  )
  // Another process may be faster.
  for (const each of settled)
    if (each.status === 'rejected' && !isFactChanged(each.reason)) around.logError(each.reason)
}

/** A note from the future was made by a clock that was ahead. */
function isNoted(question: KeptQuestion, time: number): question is KeptQuestion & { overSince: number } {
  return question.overSince !== undefined && question.overSince <= time
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
