import type { Json } from '../../contract/base/json.ts'
import type { PendingApproval, RecordedAnswer } from '../../contract/pending-approval.ts'
import type { AskedCall } from '../../contract/policy.ts'
import type { Fact, FactChange, Store } from '../../contract/store.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { parseJson } from '../../kit/json/parse-json.ts'
import { newId } from '../../kit/new-id.ts'
import type { KeptQuestion, NewQuestion } from '../state/approval-book.ts'

/** The question in a fact; undefined if it cannot be read as one. */
export function readQuestion({ tenant, id, value: was }: Fact): KeptQuestion | undefined {
  const value: unknown = was
  if (!isStored(value) || value.id !== id || value.tenant !== tenant) return undefined
  const { subject, writer, returns, overSince, ...approval } = value
  return {
    approval: { ...approval, state: 'waiting' },
    subject,
    writer,
    returns,
    overSince,
    characters: JSON.stringify(was).length,
    stored: was,
  }
}

type Aside = Pick<KeptQuestion, 'subject' | 'writer' | 'returns' | 'overSince'>
type Stored = Omit<PendingApproval, 'state'> & Aside

function isStored(value: unknown): value is Stored {
  return (
    isPlainObject(value) &&
    ['id', 'tenant', 'digest', 'subject', 'writer', 'returns'].every(
      (field) => typeof value[field] === 'string',
    ) &&
    ['askedAt', 'expiresAt', 'needed'].every((field) => typeof value[field] === 'number') &&
    ['number', 'undefined'].includes(typeof value['overSince']) &&
    isPlainObject(value['request']) &&
    Array.isArray(value['answers'])
  )
}

/** A question that was not asked before, as it is kept. */
export function toQuestion(
  asked: NewQuestion,
  at: number,
  { writer }: Store,
): { kept: KeptQuestion; put: FactChange } {
  const { request, reach, digest, needed, waitMs, subject, returns } = asked
  const approval: PendingApproval = {
    id: newId('apr', at),
    tenant: request.principal.tenant,
    state: 'waiting',
    request,
    ...(reach !== undefined && { reach }),
    digest,
    askedAt: at,
    expiresAt: at + waitMs,
    needed,
    answers: [],
  }
  const aside = { subject, writer, returns, overSince: undefined }
  const value = toValue(approval, aside)
  const about = { tenant: approval.tenant, kind: 'approval', id: approval.id } as const
  return {
    kept: { approval, ...aside, characters: JSON.stringify(value).length, stored: value },
    put: { ...about, value, was: null },
  }
}

/** Adds an answer, if nothing changed since the question was read. */
export function putAnswer(question: KeptQuestion, answer: RecordedAnswer): FactChange {
  const { approval } = question
  const answered = { ...approval, answers: [...approval.answers, answer] }
  return {
    ...nameOf(question),
    value: toValue(answered, { ...question, overSince: undefined }),
    was: question.stored,
  }
}

/** Uses an answer for a call, if nothing changed since the question was read. If the call itself waited for the answer, the question is not needed any more. */
export function useAnswer(question: KeptQuestion, call: string): FactChange {
  const { approval, stored } = question
  const value =
    approval.request.callId === call ? undefined : toValue({ ...approval, usedBy: call }, question)
  return { ...nameOf(question), value, was: stored }
}

/** Notes when a question was found to be over for long, if nothing changed since it was read. */
export function markOver(question: KeptQuestion, at: number): FactChange {
  const value = toValue(question.approval, { ...question, overSince: at })
  return { ...nameOf(question), value, was: question.stored }
}

/** Takes a question away, if nothing changed since it was read. */
export function takeBack(question: KeptQuestion): FactChange {
  return { ...nameOf(question), value: undefined, was: question.stored }
}

function nameOf({ approval: { tenant, id } }: KeptQuestion): Pick<Fact, 'tenant' | 'kind' | 'id'> {
  return { tenant, kind: 'approval', id }
}

/** As a store keeps it. What its answers come to is not kept. */
function toValue(approval: PendingApproval, { subject, writer, returns, overSince }: Aside): Json {
  return parseJson(JSON.stringify({ ...approval, state: undefined, subject, writer, returns, overSince }))
}

/** The question at this time. */
export function at(question: KeptQuestion, time: number): KeptQuestion {
  const { approval } = question
  const state = stateOf(approval, time)
  return state === approval.state ? question : { ...question, approval: { ...approval, state } }
}

function stateOf(
  { answers, needed, expiresAt, usedBy }: PendingApproval,
  time: number,
): PendingApproval['state'] {
  if (usedBy !== undefined) return 'used'
  if (answers.some(({ decision }) => decision === 'deny')) return 'denied'
  if (time >= expiresAt) return 'expired'
  return new Set(answers.map(({ by }) => by)).size >= needed ? 'allowed' : 'waiting'
}

/** Whether a question has no answer that is enough, in time or not. */
export function isUnanswered(approval: PendingApproval): boolean {
  return stateOf(approval, Number.NEGATIVE_INFINITY) === 'waiting'
}

/** Whether a call that is not the one that was asked about may come back as it. */
export function mayReturnAs(
  { approval: { request }, returns, writer }: KeptQuestion,
  toolCallId: string,
  store: Store,
): boolean {
  if (returns === 'anew') return true
  return !store.lives(writer) && (returns === 'held' || request.toolCallId === toolCallId)
}

/** The call of a question, as the policy takes it. */
export function toAskedCall({ tenant, request, askedAt }: PendingApproval): AskedCall {
  return { tenant, tool: request.tool, requester: request.principal.actor, askedAt }
}

/** Whether a call can still go on with a question, or its answer. */
export function isOpen({ state }: PendingApproval): boolean {
  return state !== 'used' && state !== 'expired'
}
