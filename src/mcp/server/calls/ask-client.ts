import type { Inquiry, InquiryAnswer, Responder } from '../../../contract/base/inquiry.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { ClientRequest } from './open-call.ts'
import { canGive, provide, type Askable } from './provide.ts'

/**
 * Puts what calls ask to the client whose call it is, if the client takes such questions; else to the other responder; without
 * one, declines it. `find` returns the call of an id, if it is one of a client.
 */
export function createClientResponder(
  find: (toolCallId: string) => Askable | undefined,
  other: Responder | undefined,
): Responder {
  return async (inquiry, signal) => {
    const askable = find(inquiry.toolCallId)
    const request = toRequest(inquiry)
    if (askable === undefined || !canGive(askable.capabilities, request))
      return other === undefined ? { action: 'decline' } : other(inquiry, signal)
    const given = await provide(askable, {
      from: inquiry.from,
      requests: { inquiry: { ...request } },
      signal,
    })
    return fromClient(inquiry, given['inquiry'])
  }
}

/** The same where calls of one session may be of several clients: what may be of another call is shown to none of them. */
export function declinePresumed(responder: Responder): Responder {
  return async (inquiry, signal) =>
    inquiry.presumed === true ? { action: 'decline' } : responder(inquiry, signal)
}

/** As the protocol has it. */
function toRequest(inquiry: Inquiry): ClientRequest {
  const method = 'elicitation/create'
  switch (inquiry.kind) {
    case 'sampling':
      return { method: 'sampling/createMessage', params: inquiry.params }
    case 'page': {
      const { message, url, id = inquiry.callId } = inquiry
      return { method, params: { mode: 'url', message, url, elicitationId: id } }
    }
    case 'form': {
      // It was made of JSON.
      const requestedSchema = inquiry.schema as unknown as JsonObject
      return { method, params: { mode: 'form', message: inquiry.message, requestedSchema } }
    }
  }
}

/** A client that provides no words of a model answers with an error. The caller that asked looks at what else the client says. */
function fromClient({ kind }: Inquiry, given: unknown): InquiryAnswer {
  const answer = kind === 'sampling' ? { action: 'accept', content: given } : given
  return answer as InquiryAnswer
}
