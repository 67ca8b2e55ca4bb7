import { origins, type Call, type Origin, type SessionModel } from '../../contract/base/call.ts'
import type { CallRequest } from '../../contract/call-request.ts'
import { digest } from '../../kit/json/digest.ts'
import { isCounterpart, toCounterpart } from '../../kit/result/counterpart.ts'
import { isPlainObject } from '../../kit/json/is-plain-object.ts'
import { newId } from '../../kit/new-id.ts'
import type { SessionState } from '../state/scope.ts'
import { takeInput } from './steps/take-input.ts'

/** While it is made. */
type Made<T> = { -readonly [field in keyof T]: T[field] }

/** A call as it comes to the pipeline. Everything of it is Handrail's own. `origin` is that of a request that names none. */
export function toCall(
  request: CallRequest,
  about: { origin: Origin; session: SessionState; now: number },
): Call {
  const { origin = about.origin } = request
  const id = newId('call', about.now)
  const rawId = toRawId(request.id)
  const call: Made<Call> = {
    id,
    toolCallId: rawId ?? id,
    tool: request.tool,
    input: takeInput(request),
    presentation: request.presentation === 'compatible' ? 'compatible' : 'canonical',
    principal: about.session.principal,
    session: about.session.id,
    origin: origins.includes(origin) ? origin : about.origin,
    at: about.now,
  }
  const { idempotencyKey, consent, model, trace, counterpart, rawName } = request
  if (idempotencyKey !== undefined) call.idempotencyKey = idempotencyKey
  if (consent !== undefined) call.consent = consent
  if (model !== undefined && isPlainObject(model)) call.model = copyModel(model)
  if (isTraceParent(trace)) call.trace = trace
  if (isCounterpart(counterpart)) call.counterpart = toCounterpart(counterpart)
  if (typeof rawName === 'string') call.rawName = rawName.slice(0, longestId)
  if (rawId !== undefined) call.rawId = rawId
  return call
}

/** The caller may change theirs. */
function copyModel({ provider, name }: SessionModel): SessionModel {
  return { provider, ...(name !== undefined && { name }) }
}

/** Characters of an id or a name from a provider. */
const longestId = 1_024

/** The provider's id, which its result is paired by: a number as its digits; a longer one cut, with the digest that keeps it apart. */
export function toRawId(given: unknown): string | undefined {
  if (typeof given === 'number') return String(given)
  if (typeof given !== 'string' || given === '') return undefined
  if (given.length <= longestId) return given
  const mark = `~${digest(given)}`
  return given.slice(0, longestId - mark.length) + mark
}

/** W3C Trace Context, section 3.2: version, trace id, parent id and flags. */
const traceParent = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

function isTraceParent(trace: unknown): trace is string {
  return typeof trace === 'string' && traceParent.test(trace)
}
