import type { ApprovalAnswer, Approver } from '../../contract/approval.ts'
import type { CallError } from '../../contract/base/errors.ts'
import type { PersonAnswer } from '../../contract/base/result.ts'
import type { FactChange } from '../../contract/store.ts'
import { isJsonObject } from '../../kit/json/is-json-object.ts'
import { isIssue, toJson } from '../../kit/json/to-json.ts'
import { callError } from '../../kit/result/call-error.ts'
import { showDuration } from '../../kit/time/show-duration.ts'
import { tellWatcher } from '../../kit/time/tell-watcher.ts'
import { abortedError } from '../limits/aborted-error.ts'
import { createRunWatch, type RunEnd } from '../limits/run-watch.ts'
import type { KeptQuestion } from '../state/approval-book.ts'
import type { Hooked } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'
import { toCallError } from '../state/to-call-error.ts'
import { isAnswer, noAnswer } from './approval-answer.ts'
import type { Asked } from './asked.ts'
import { hearPerson, toHeard, type Heard } from './hear-person.ts'
import { isAllowed, keepQuestion } from './keep-question.ts'
import { adviceFor, denial, unasked } from './refusals.ts'
import { inputPreview, toRequest } from './to-request.ts'

/** A person's yes. */
export interface Yes {
  readonly decision: 'allow_once' | 'allow_for_session'
  /** What uses it up, if it is kept. */
  readonly use: FactChange | undefined
}

/** What is asked before a call runs: whether it may. */
export function toAsked(hooked: Hooked, digest: string): Asked {
  const preview = hooked.preview ?? inputPreview(hooked)
  return { hooked, decision: hooked.decision, preview, ran: false, digest, kept: undefined }
}

/**
 * Asks the person, and keeps the question, so that others can answer it elsewhere: the first answer counts. Never rejects: whatever is not a yes is an error.
 */
export async function askPerson(
  approver: Approver,
  asked: Asked,
  scope: CallScope,
): Promise<Yes | { error: CallError }> {
  let { kept } = asked
  try {
    // Whom it was decided by ahead answers at once.
    if (approver.ahead !== true) kept ??= await keepQuestion(asked, scope, 'held')
  } catch (error) {
    return { error: toCallError(error, asked.hooked.registered.definition.name) }
  }
  const answer = await askKept(approver, asked, { scope, kept })
  const question = kept && scope.tenant.approvals.read(kept.approval.id)
  if (question === undefined || 'error' in answer || asked.ran) {
    if (question !== undefined) await scope.tenant.approvals.withdraw(question.approval.id)
    return 'error' in answer ? answer : { ...answer, use: undefined }
  }
  return { ...answer, use: scope.tenant.approvals.use(question, asked.hooked.call.id) }
}

async function askKept(
  approver: Approver,
  asked: Asked,
  { scope, kept: question }: { scope: CallScope; kept: KeptQuestion | undefined },
): Promise<Pick<Yes, 'decision'> | { error: CallError }> {
  const { tenant, session } = scope
  const { hooked, decision } = asked
  const { name } = hooked.registered.definition
  const refused = (reason: string, message: string) => ({
    error: callError('POLICY.APPROVAL_DENIED', reason, {
      message,
      ...(asked.ran && { data: { ran: true } }),
    }),
  })
  const about = { call: hooked.call.id, toolCallId: hooked.call.toolCallId, tool: name }
  session.emit({
    type: 'permission_requested',
    level: 'info',
    ...about,
    summary: tenant.redactor.text(`asks for ${name}: ${decision.reason}`),
    ...(question !== undefined && { data: { approval: question.approval.id } }),
  })
  const watch = createRunWatch(hooked, session.endings)
  const waiting = createWaitingNotice(hooked, scope)
  try {
    const answering = hearPerson({
      approver,
      request: toRequest(asked, scope),
      kept: question,
      approvals: tenant.approvals,
      signal: watch.signal,
      onRefused: (issue) =>
        session.emit({ type: 'permission_refused', level: 'failure', ...about, summary: issue }),
      onOpen: (why) => waiting.tell(`Waits for other people as ${question?.approval.id ?? 'asked'}: ${why}`),
    })
    const first = await watch.firstOf(answering, tenant.limits.approvalTimeoutMs)
    if (first === 'ended' && watch.ended !== 'timeout') return { error: abortedWhileAsked(name, watch.ended) }
    // Answered elsewhere in the last moment, it is answered.
    const late = question && toLate(tenant.approvals.read(question.approval.id))
    const answered = first === 'ended' && late !== undefined ? { value: late } : first
    if (answered === 'ended') {
      return refused(
        'callback_timeout',
        `No person answered for "${name}" within ${showDuration(tenant.limits.approvalTimeoutMs)}, so it is denied.`,
      )
    }
    const { answer, elsewhere } = answered.value
    if (elsewhere?.state === 'allowed' && !isAllowed(elsewhere, scope))
      return refused(
        'approval_stale',
        `The answer for "${name}" does not count by the policy in force: ask a person who may decide. Nothing was done.`,
      )
    if (!isAnswer(answer)) {
      tenant.logError({ call: hooked.call.id, tool: name, cause: new Error(noAnswer(answer)) })
      return refused('callback_failed', `Asking for "${name}" gave no valid answer, so it is denied.`)
    }
    const kept = {
      ...toPersonAnswer(answer, hooked, scope),
      ...(elsewhere !== undefined && { id: elsewhere.id }),
    }
    hooked.answer = kept
    session.emit({
      type: 'permission_decided',
      level: answer.decision === 'deny' ? 'failure' : 'info',
      ...about,
      summary: `${answer.decision} for ${name}`,
      data: { ...kept, ...(answer.decision === 'deny' && adviceFor(asked, scope)) },
    })
    if (answer.decision !== 'deny') return { decision: answer.decision }
    return { error: toDenial(answer, asked, scope) }
  } catch (error) {
    tenant.logError({ call: hooked.call.id, tool: name, cause: error })
    return refused('callback_failed', `Asking for "${name}" failed, so it is denied.`)
  } finally {
    waiting.end()
  }
}

/** What a no comes to: of a person, or of a client without one. */
function toDenial({ reason, metadata }: ApprovalAnswer, asked: Asked, scope: CallScope): CallError {
  if (metadata?.['unanswered'] !== true) return denial(asked, reason)
  const { name } = asked.hooked.registered.definition
  const why = `"${name}" needs a person's yes (${asked.decision.reason}), and no person gave it: it was ${reason ?? 'not answered'}.`
  return unasked(asked, scope, why)
}

/** A caller that hears nothing for long may give its call up. */
const waitingNoticeMs = 10_000

/** Tells the caller of a call, as its progress, that it waits for other people than the one who answered. */
function createWaitingNotice({ call, registered, onProgress }: Hooked, { tenant }: CallScope) {
  let timer: NodeJS.Timeout | undefined
  const notify = (message: string): void => {
    if (onProgress === undefined) return
    const about = { call: call.id, tool: registered.definition.name }
    tellWatcher(onProgress, { message }, (cause) => tenant.logError({ ...about, cause }))
  }
  return {
    tell(message: string): void {
      clearInterval(timer)
      notify(message)
      timer = setInterval(notify, waitingNoticeMs, message).unref()
    },
    end: () => clearInterval(timer),
  }
}

function toLate(question: KeptQuestion | undefined): Heard | undefined {
  const state = question?.approval.state
  return question !== undefined && (state === 'allowed' || state === 'denied')
    ? toHeard(question.approval)
    : undefined
}

export function abortedWhileAsked(tool: string, ended: RunEnd | undefined): CallError {
  return abortedError(ended, `"${tool}" was aborted while a person was asked.`)
}

/** Characters of what is kept of an answer beside its reason. */
const longestMetadata = 4_096

/** An answer as it is kept: a copy, without secrets. Metadata that is too long or not JSON is left out, and the log reports it. */
export function toPersonAnswer(
  { decision, reason, by, metadata }: ApprovalAnswer,
  { call, registered }: Hooked,
  { tenant }: CallScope,
): PersonAnswer {
  const kept: PersonAnswer = { decision }
  if (reason !== undefined) kept.reason = tenant.redactor.text(reason)
  if (by !== undefined) kept.by = tenant.redactor.text(by)
  if (metadata === undefined) return kept
  const copied = toJson(metadata)
  if (!isIssue(copied) && copied.size <= longestMetadata && isJsonObject(copied.json))
    kept.metadata = tenant.redactor.json(copied.json)
  else
    tenant.logError({
      call: call.id,
      tool: registered.definition.name,
      cause: new Error(
        `The "metadata" of an approval is not kept: it is not JSON, or has more than ${longestMetadata} characters`,
      ),
    })
  return kept
}
