import type {
  ElicitationResult,
  ElicitationParams,
  ElicitationRequest,
} from '../../contract/base/elicitation.ts'
import { plainWords } from '../../kit/text/plain-words.ts'
import { beforeAbort } from '../../kit/time/before-abort.ts'
import { showDuration } from '../../kit/time/show-duration.ts'
import { checkElicitationResult } from './check-elicitation-result.ts'
import type { CallScope } from '../state/scope.ts'
import type { Admitted } from '../state/call-state.ts'
import { toAnswerSchema } from './read-form.ts'
import { readElicitation, type Unasked } from './read-elicitation.ts'
import { redactorOf } from '../record/treatments.ts'

/** A call that asks more often does not want an answer. */
const maxElicitations = 16

/** The call that asks, and how often it has asked. */
export interface AskingCall {
  readonly admitted: Admitted
  readonly scope: CallScope
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
export async function elicit(request: ElicitationRequest, asking: AskingCall): Promise<ElicitationResult> {
  const { admitted, scope } = asking
  const { session, tenant } = scope
  const { call, registered } = admitted
  const tool = registered.definition.name
  const about = { call: call.id, toolCallId: call.toolCallId, tool }
  try {
    const redactor = redactorOf(registered, scope)
    const from = plainWords(redactor.text(request.from ?? `tool "${tool}"`), 200).replaceAll('\n', ' ')
    const { mode } = request
    session.emit({
      type: 'elicitation_asked',
      level: 'info',
      ...about,
      summary: `${from} asks ${wordsOf[mode]}`,
      data: { mode, from },
    })
    const { answer, because } = await settle(request, { asking, from })
    session.emit({
      type: 'elicitation_answered',
      level: answer.action === 'accept' ? 'info' : 'failure',
      ...about,
      summary: because === undefined ? answer.action : `${answer.action}: ${because}`,
      data: { mode, action: answer.action },
    })
    return answer
  } catch (cause) {
    tenant.logError({ call: call.id, tool, cause })
    return { action: 'cancel' }
  }
}

const wordsOf: { readonly [mode in ElicitationParams['mode']]: string } = {
  form: 'to fill in a form',
  url: 'to visit a page',
  sampling: 'for words of a model',
}

interface Settled {
  readonly answer: ElicitationResult
  /** Why, if the answer is not the handler's. */
  readonly because?: string
}

async function settle(
  request: ElicitationRequest,
  { asking, from }: { asking: AskingCall; from: string },
): Promise<Settled> {
  const { admitted, scope, count, signal, hold } = asking
  const { session, tenant } = scope
  const { elicit } = admitted
  if (count > maxElicitations) return declined(`the call asked ${maxElicitations} times before`)
  if (elicit === undefined) return declined('no person can be asked here')
  const redactor = redactorOf(admitted.registered, scope)
  const matter = readElicitation(request, (text) => redactor.text(text))
  const issue = findIssue(matter, scope)
  if (issue !== undefined || 'issue' in matter) return declined(issue ?? '')
  const elicitation = {
    ...matter,
    callId: admitted.call.id,
    toolCallId: admitted.call.toolCallId,
    tool: admitted.registered.definition.name,
    session: session.id,
    principal: session.principal,
    from,
    ...(request.presumed === true && { presumed: true }),
  }
  const { elicitationTimeoutMs } = tenant.limits
  const late = new AbortController()
  const wanted = AbortSignal.any([signal, late.signal])
  const letGo = hold(elicitationTimeoutMs)
  // A call that runs keeps the process alive itself.
  const timer = setTimeout(() => late.abort(), elicitationTimeoutMs).unref()
  const whyOver = () =>
    signal.aborted
      ? 'the question was withdrawn'
      : `no person answered within ${showDuration(elicitationTimeoutMs)}`
  try {
    const answer = await beforeAbort(wanted, () => elicit(elicitation, wanted))
    if (wanted.aborted) return cancelled(whyOver())
    const checked = checkElicitationResult(answer, matter, tenant.checker)
    return checked === undefined ? cancelled('the answer does not fit') : { answer: checked }
  } catch (cause) {
    if (wanted.aborted) return cancelled(whyOver())
    tenant.logError({ call: elicitation.callId, tool: elicitation.tool, cause })
    return cancelled('asking failed')
  } finally {
    clearTimeout(timer)
    letGo()
  }
}

const declined = (because: string): Settled => ({ answer: { action: 'decline' }, because })
const cancelled = (because: string): Settled => ({ answer: { action: 'cancel' }, because })

function findIssue(matter: ElicitationParams | Unasked, { tenant }: CallScope): string | undefined {
  if ('issue' in matter) return matter.issue
  if (matter.mode !== 'form') return undefined
  const [issue] = tenant.checker.inspect(toAnswerSchema(matter.schema), 'native')
  return issue && `its form is faulty at "${issue.pointer}": ${issue.message}`
}
