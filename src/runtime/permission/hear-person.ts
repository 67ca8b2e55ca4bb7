import type { ApprovalAnswer, ApprovalRequest, Approver } from '../../contract/approval.ts'
import { SetupError } from '../../contract/base/errors.ts'
import type { PendingApproval } from '../../contract/pending-approval.ts'
import type { ApprovalBook, KeptQuestion } from '../state/approval-book.ts'
import { isAnswer } from './approval-answer.ts'

/** An answer, and whether it was given elsewhere than by whom the program asked. */
export interface Heard {
  /** What the program's approver returned is not checked yet. */
  readonly answer: unknown
  readonly elsewhere?: PendingApproval
}

/** Whom to ask, and what. */
export interface Hearing {
  readonly approver: Approver
  readonly request: ApprovalRequest
  /** Undefined if it is not kept: then the approver alone answers. */
  readonly kept: KeptQuestion | undefined
  readonly approvals: ApprovalBook
  readonly signal: AbortSignal
  /** Told why a yes does not count. The question stays open for others. */
  readonly onRefused: (issue: string) => void
  /** Told that other people have to answer, and why. */
  readonly onOpen: (why: string) => void
}

/** The first answer that counts: of the approver of the program, or from elsewhere. The others are told by their signal. */
export async function hearPerson(hearing: Hearing): Promise<Heard> {
  const { approver, request, kept, approvals, signal } = hearing
  if (kept === undefined) return { answer: await approver(request, signal) }
  const { id } = kept.approval
  const over = new AbortController()
  const looking = new AbortController()
  let end: PendingApproval | undefined
  try {
    const elsewhere = approvals.settled(id, AbortSignal.any([signal, looking.signal]))
    const own = hearOwn(hearing, id, AbortSignal.any([signal, over.signal]))
    // What became of the question is seen before the approver's own answer has returned.
    const first = elsewhere.then((settled) => {
      if (!own.hasAnswered()) end = settled
      return own.hasAnswered() ? own.heard : toHeard(settled)
    })
    return await Promise.race([first, own.heard.then((heard) => heard ?? elsewhere.then(toHeard))]).then(
      (heard) => heard ?? elsewhere.then(toHeard),
    )
  } finally {
    looking.abort()
    if (end !== undefined) over.abort(answeredElsewhere(end))
  }
}

/** What the approver of the program is told that still asks. */
function answeredElsewhere({ id, answers }: PendingApproval): Error {
  const said = answers.map(({ by, decision }) => `${by === '' ? 'a person' : by} with ${decision}`).join(', ')
  const error = new Error(`${id} was answered elsewhere: by ${said}.`)
  error.name = 'AnsweredElsewhere'
  return error
}

/** What the approver answers: undefined if other people have to say yes too, or this one may not. */
function hearOwn(hearing: Hearing, id: string, signal: AbortSignal) {
  let hasAnswered = false
  const hear = async (): Promise<Heard | undefined> => {
    const answer = await hearing.approver({ ...hearing.request, approval: id }, signal)
    if (!isAnswer(answer) || isNoAnswer(answer)) return { answer }
    hasAnswered = true
    return give(answer, id, hearing)
  }
  return { heard: hear(), hasAnswered: () => hasAnswered }
}

async function give(
  answer: ApprovalAnswer,
  id: string,
  { approvals, onRefused, onOpen }: Hearing,
): Promise<Heard | undefined> {
  const { decision, reason, by = '' } = answer
  try {
    const settled = await approvals.answer(id, { decision, by, ...(reason !== undefined && { reason }) })
    if (settled?.state === 'waiting') {
      onOpen(`${settled.answers.length} of ${settled.needed} people said yes`)
      return undefined
    }
    // Another answer was faster if this one is not the last.
    return settled === undefined || isLast(settled, answer) ? { answer } : toHeard(settled)
  } catch (error) {
    if (!(error instanceof SetupError) || error.code !== 'not_approver') throw error
    onRefused(error.message)
    onOpen(error.message)
    return undefined
  }
}

/** Some clients decline by themselves, without a person. */
function isNoAnswer({ decision, metadata }: ApprovalAnswer): boolean {
  return decision === 'deny' && metadata?.['unanswered'] === true
}

function isLast({ answers }: PendingApproval, { decision, by = '' }: ApprovalAnswer): boolean {
  const last = answers.at(-1)
  return answers.length === 1 && last?.by === by && last.decision === decision
}

/** What became of a question, as it is heard. */
export function toHeard(settled: PendingApproval | undefined): Heard {
  return settled === undefined ? { answer: undefined } : { answer: toAnswer(settled), elsewhere: settled }
}

/** What all answers to a question come to. */
export function toAnswer({ state, answers }: PendingApproval): ApprovalAnswer | undefined {
  if (state === 'waiting' || state === 'expired') return undefined
  const no = answers.find(({ decision }) => decision === 'deny')
  const isForSession = answers.every(({ decision }) => decision === 'allow_for_session')
  const by = no?.by ?? answers.map((each) => each.by).join(', ')
  const reason = (no ?? answers.at(-1))?.reason
  return {
    decision: no === undefined ? (isForSession ? 'allow_for_session' : 'allow_once') : 'deny',
    ...(by !== '' && { by }),
    ...(reason !== undefined && { reason }),
  }
}
