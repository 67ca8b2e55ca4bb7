import type { InquiryAnswer, InquiryMatter, InquiryRequest } from '../../contract/base/inquiry.ts'
import { plainWords } from '../../kit/text/plain-words.ts'
import { showDuration } from '../../kit/time/show-duration.ts'
import { checkInquiryAnswer } from './check-inquiry-answer.ts'
import type { Road } from '../state/ground.ts'
import type { Admitted } from '../state/passage.ts'
import { toAnswerSchema } from './read-form.ts'
import { readInquiry, type Unasked } from './read-inquiry.ts'
import { redactorOf } from '../record/treatments.ts'

/** A call that asks more often does not want an answer. */
const maxInquiries = 16

/** The call that asks, and how often it has asked. */
export interface AskingCall {
  readonly admitted: Admitted
  readonly road: Road
  /** This question included. */
  readonly count: number
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal
  /** The time limit of the call stands still until the returned function is called, at most for `longestMs`. */
  readonly hold: (longestMs: number) => () => void
}

/**
 * Puts a question of a call to the person or model that works with its session. Never rejects: if neither is there, or the question cannot
 * be put, it is declined; if no answer that fits comes back, it is cancelled.
 */
export async function inquire(request: InquiryRequest, asking: AskingCall): Promise<InquiryAnswer> {
  const { admitted, road } = asking
  const { session, ground } = road
  const { call, registered } = admitted
  const tool = registered.definition.name
  const about = { call: call.id, toolCallId: call.toolCallId, tool }
  try {
    const redactor = redactorOf(registered, road)
    const from = plainWords(redactor.text(request.from ?? `tool "${tool}"`), 200).replaceAll('\n', ' ')
    const { kind } = request
    session.emit({
      type: 'inquiry_asked',
      level: 'info',
      ...about,
      summary: `${from} asks ${wordsOf[kind]}`,
      data: { kind, from },
    })
    const { answer, because } = await settle(request, { asking, from })
    session.emit({
      type: 'inquiry_answered',
      level: answer.action === 'accept' ? 'info' : 'failure',
      ...about,
      summary: because === undefined ? answer.action : `${answer.action}: ${because}`,
      data: { kind, action: answer.action },
    })
    return answer
  } catch (cause) {
    ground.logFault({ call: call.id, tool, cause })
    return { action: 'cancel' }
  }
}

const wordsOf: { readonly [kind in InquiryMatter['kind']]: string } = {
  form: 'to fill in a form',
  page: 'to visit a page',
  sampling: 'for words of a model',
}

interface Settled {
  readonly answer: InquiryAnswer
  /** Why, if the answer is not the responder's. */
  readonly because?: string
}

async function settle(
  request: InquiryRequest,
  { asking, from }: { asking: AskingCall; from: string },
): Promise<Settled> {
  const { admitted, road, count, signal, hold } = asking
  const { session, ground } = road
  const { responder } = session
  if (count > maxInquiries) return declined(`the call asked ${maxInquiries} times before`)
  if (responder === undefined) return declined('nobody can be asked here')
  const redactor = redactorOf(admitted.registered, road)
  const matter = readInquiry(request, (text) => redactor.text(text))
  const fault = findFault(matter, road)
  if (fault !== undefined || 'fault' in matter) return declined(fault ?? '')
  const inquiry = {
    ...matter,
    callId: admitted.call.id,
    toolCallId: admitted.call.toolCallId,
    tool: admitted.registered.definition.name,
    session: session.id,
    principal: session.principal,
    from,
    ...(request.presumed === true && { presumed: true }),
  }
  const { inquiryTimeoutMs } = ground.limits
  const late = new AbortController()
  const wanted = AbortSignal.any([signal, late.signal])
  const letGo = hold(inquiryTimeoutMs)
  // A call that runs keeps the process alive itself.
  const timer = setTimeout(() => late.abort(), inquiryTimeoutMs).unref()
  const whyOver = () =>
    signal.aborted ? 'the question was withdrawn' : `nobody answered within ${showDuration(inquiryTimeoutMs)}`
  try {
    const answer = await beforeAbort(wanted, () => responder(inquiry, wanted))
    if (wanted.aborted) return cancelled(whyOver())
    const checked = checkInquiryAnswer(answer, matter, ground.checker)
    return checked === undefined ? cancelled('the answer does not fit') : { answer: checked }
  } catch (cause) {
    if (wanted.aborted) return cancelled(whyOver())
    ground.logFault({ call: inquiry.callId, tool: inquiry.tool, cause })
    return cancelled('asking failed')
  } finally {
    clearTimeout(timer)
    letGo()
  }
}

const declined = (because: string): Settled => ({ answer: { action: 'decline' }, because })
const cancelled = (because: string): Settled => ({ answer: { action: 'cancel' }, because })

function findFault(matter: InquiryMatter | Unasked, { ground }: Road): string | undefined {
  if ('fault' in matter) return matter.fault
  if (matter.kind !== 'form') return undefined
  const [fault] = ground.checker.inspect(toAnswerSchema(matter.schema), 'native')
  return fault && `its form is faulty at "${fault.pointer}": ${fault.message}`
}

/** What the work returns; undefined if the signal is aborted before. */
async function beforeAbort<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T | undefined> {
  if (signal.aborted) return undefined
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>()
  const onAbort = (): void => resolve(undefined)
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    return await Promise.race([work(), aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
