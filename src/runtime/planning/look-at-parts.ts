import type { CallRequest } from '../../contract/call-request.ts'
import type { PartCalls, PartWish } from '../../contract/tool/part-calls.ts'
import type { Called, CallKey } from '../state/call-state.ts'
import type { CallScope } from '../state/scope.ts'

/** A call that has parts. */
type Whole = Called & { readonly key: CallKey | undefined }

/** What a call may know of its parts before it runs. */
export function lookAtParts(called: Whole, scope: CallScope): Pick<PartCalls, 'definition' | 'look'> {
  const { session } = scope
  return {
    definition(tool) {
      const registered = session.find(tool, 'canonical')
      return registered === undefined || session.exclusion(registered, called.call.model) !== undefined
        ? undefined
        : registered.definition
    },
    look: (wish) => session.parts.look(toPartRequest(called, wish, scope)),
  }
}

/** A part as the session takes it: it asks whom its call asks, and is told to whom its call is. */
export function toPartRequest(
  { call, key, approve, elicit, onProgress, caller }: Whole,
  { part, tool, input }: PartWish,
  { session }: CallScope,
): CallRequest {
  const { idempotency = 'none', keyFrom = 'call' } = session.find(tool, 'canonical')?.definition ?? {}
  const takesKey = idempotency !== 'none' && keyFrom === 'call'
  return {
    tool,
    input,
    id: `${call.toolCallId}.${part}`,
    origin: call.origin,
    caller,
    ...(approve !== undefined && { approve }),
    ...(elicit !== undefined && { elicit }),
    ...(onProgress !== undefined && { onProgress }),
    // It names what is done: the whole, and which part of it.
    ...(key !== undefined && takesKey && { idempotencyKey: `${key.name}/${part}` }),
    ...(call.model !== undefined && { model: call.model }),
    ...(call.trace !== undefined && { trace: call.trace }),
  }
}
