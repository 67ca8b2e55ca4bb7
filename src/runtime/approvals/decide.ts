import { SetupError } from '../../contract/base/errors.ts'
import type { Json } from '../../contract/base/json.ts'
import type { Evidence } from '../../contract/evidence-log.ts'
import type { EventName, NoteRecord } from '../../contract/evidence.ts'
import type { ApprovalDecision, PendingApproval, RecordedAnswer } from '../../contract/pending-approval.ts'
import type { PolicyEngine } from '../../contract/policy.ts'
import type { Store } from '../../contract/store.ts'
import { isFactChanged } from '../../kit/result/is-fact-changed.ts'
import type { KeptQuestion } from '../state/approval-book.ts'
import { putAnswer, toAskedCall } from './stored-question.ts'

/** What the approvals of a runtime stand on. */
export interface ApprovalSurroundings {
  readonly store: Store
  readonly evidence: Evidence
  /** What decides about calls of a tenant. */
  readonly policy: (tenant: string) => Pick<PolicyEngine, 'approverIssue'>
  /** Told of each question that waits, and of each answer that came from elsewhere than the call's own process. */
  readonly announce: (note: NoteRecord) => void
  readonly logError: (cause: unknown) => void
  /** Takes out secrets. */
  readonly redact: (text: string) => string
  readonly now: () => number
}

/**
 * Adds an answer to a question as it was read. Resolves when it is durable; false if another answer was faster. `isOwn`: of the person whom the
 * call's own process asked, so that it stands in the records of the call. Throws a SetupError if it cannot count.
 */
export async function decideQuestion(
  question: KeptQuestion,
  { decision, by, reason, digest }: ApprovalDecision,
  { around, isOwn }: { around: ApprovalSurroundings; isOwn: boolean },
): Promise<boolean> {
  const { approval } = question
  const at = around.now()
  // The call's own process measures by its own clock how long its person may take.
  const isOpen = approval.state === 'waiting' || (isOwn && approval.state === 'expired')
  if (!isOpen) throw over(approval)
  if (digest !== undefined && digest !== approval.digest) throw changed(approval)
  const issue =
    decision === 'deny' ? undefined : findIssue(approval, around.policy(approval.tenant), { by, at })
  if (issue !== undefined) throw notApprover(approval, issue)
  const answer: RecordedAnswer = {
    decision,
    by,
    at,
    ...(reason !== undefined && { reason: around.redact(reason) }),
  }
  try {
    await write(question, answer, { around, isOwn })
    return true
  } catch (error) {
    if (isFactChanged(error)) return false
    throw error
  }
}

async function write(
  question: KeptQuestion,
  answer: RecordedAnswer,
  { around, isOwn }: { around: ApprovalSurroundings; isOwn: boolean },
): Promise<void> {
  const { approval } = question
  const { decision, by, at, reason } = answer
  const facts = [putAnswer(question, answer)]
  if (isOwn) return around.store.append([], { facts })
  const note = toNote('approval_decided', approval, {
    at,
    by,
    message: `${by} answered ${approval.id} with ${decision}: ${approval.request.tool} for ${approval.request.principal.actor}`,
    data: { decision, ...(reason !== undefined && { reason }) },
  })
  await around.evidence.tell(note, { facts })
  around.announce(note)
}

/** A note about a question. */
export function toNote(
  event: EventName,
  { id, tenant, request }: PendingApproval,
  about: { at: number; by: string; message: string; data: { readonly [key: string]: Json } },
): NoteRecord {
  const { at, by, message, data } = about
  return {
    kind: 'note',
    event,
    tenant,
    session: request.session,
    call: request.callId,
    at,
    actor: by,
    tool: request.tool,
    message,
    data: { approval: id, for: request.principal.actor, ...data },
  }
}

function findIssue(
  approval: PendingApproval,
  policy: Pick<PolicyEngine, 'approverIssue'>,
  answer: { by: string; at: number },
): string | undefined {
  if (approval.answers.some(({ by }) => by === answer.by))
    return 'they said yes already, and other people have to say yes too'
  return policy.approverIssue(toAskedCall(approval), answer)
}

/** No question has this id. */
export function unknownApproval(id: string): SetupError {
  return new SetupError(
    'unknown_approval',
    `There is no pending approval "${String(id).slice(0, 80)}": it was over long ago, or never was.`,
  )
}

function over({ id, state, answers }: PendingApproval): SetupError {
  const last = answers.at(-1)
  const by = last === undefined || last.by === '' ? 'a person' : last.by
  const what = state === 'expired' ? 'has expired' : `was answered by ${by} with ${last?.decision ?? 'deny'}`
  return new SetupError('approval_over', `"${id}" ${what}, so this answer does not count.`)
}

function changed({ id }: PendingApproval): SetupError {
  return new SetupError(
    'approval_changed',
    `The answer is for another question than "${id}". Look at it again.`,
  )
}

function notApprover({ id }: PendingApproval, issue: string): SetupError {
  return new SetupError('not_approver', `This answer to "${id}" does not count: ${issue}.`)
}
