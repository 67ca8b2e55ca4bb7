import { readJsonObject } from '../../../kit/json/is-json-object.ts'
import type { ApprovalAnswer, Approver } from '../../../contract/approval.ts'
import type {
  Elicitation,
  ElicitationResult,
  ElicitationHandler,
} from '../../../contract/base/elicitation.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import { takesForms } from './call-dispatcher.ts'
import type { ClientRequest, OpenCall } from './open-call.ts'
import { canTake, sendServerRequests, type ClientPeer } from './server-requests.ts'

/** Who answers where the client cannot. */
export interface Others {
  readonly approve?: Approver
  readonly elicit?: ElicitationHandler
  /** Whether calls of one session may be of several clients: what may be of another call is shown to none of them. */
  readonly alone?: boolean
}

interface ClientDeclared {
  readonly capabilities?: JsonObject
  readonly caller?: unknown
  /** Whose session it is. */
  readonly actor: string
}

/**
 * What a call of a client says of its caller: the client is asked as far as it can be. Approvals of a client that has no forms are left to
 * the session, so that the pipeline knows if no person can be asked.
 */
export function toCaller(
  call: OpenCall,
  { capabilities = {}, caller, actor }: ClientDeclared,
  others: Others,
) {
  const elicit = createClientElicitation({ capabilities, sendRequests: call.sendRequests }, others.elicit)
  return {
    ...(takesForms(capabilities) && {
      approve: createClientApprover(call, { actor, other: others.approve }),
    }),
    elicit: others.alone === true ? declinePresumed(elicit) : elicit,
    onProgress: call.report,
    caller,
  }
}

/**
 * The client's person is the actor of its session, so that is whose answer it is. A client that is told nothing on the way would give the call up
 * while other people are waited for. One may declare that it asks its person, and know no such request all the same: then the other is asked.
 */
function createClientApprover(
  call: OpenCall,
  { actor, other }: { actor: string; other: Approver | undefined },
): Approver {
  const approve: Approver = async (request, signal) => {
    try {
      return { ...(await call.ask(request, signal)), by: actor }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === -32_601)) throw error
      return other === undefined ? notTaken : other(request, signal)
    }
  }
  return call.wantsProgress ? approve : Object.assign(approve, { only: actor })
}

const notTaken: ApprovalAnswer = {
  decision: 'deny',
  reason: 'not taken by the client',
  metadata: { unanswered: true },
}

/** Puts what a call asks to its client, if the client takes such questions; else to the other; without one, declines it. */
function createClientElicitation(
  peer: ClientPeer,
  other: ElicitationHandler | undefined,
): ElicitationHandler {
  return async (elicitation, signal) => {
    const request = toRequest(elicitation)
    if (!canTake(peer.capabilities, request))
      return other === undefined ? { action: 'decline' } : other(elicitation, signal)
    const given = await sendServerRequests(peer, {
      from: elicitation.from,
      requests: { elicitation: { ...request } },
      signal,
    })
    return fromClient(elicitation, given['elicitation'])
  }
}

function declinePresumed(elicit: ElicitationHandler): ElicitationHandler {
  return async (elicitation, signal) =>
    elicitation.presumed === true ? { action: 'decline' } : elicit(elicitation, signal)
}

/** As the protocol has it. */
function toRequest(elicitation: Elicitation): ClientRequest {
  const method = 'elicitation/create'
  switch (elicitation.mode) {
    case 'sampling':
      return { method: 'sampling/createMessage', params: elicitation.params }
    case 'url': {
      const { message, url, id = elicitation.callId } = elicitation
      return { method, params: { mode: 'url', message, url, elicitationId: id } }
    }
    case 'form': {
      const { message, schema } = elicitation
      return { method, params: { mode: 'form', message, requestedSchema: readJsonObject(schema) } }
    }
  }
}

/** A client that provides no words of a model answers with an error. The caller that asked looks at what else the client says. */
function fromClient({ mode }: Elicitation, given: unknown): ElicitationResult {
  const answer = mode === 'sampling' ? { action: 'accept', content: given } : given
  return answer as ElicitationResult
}
