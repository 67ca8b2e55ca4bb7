import { readJsonObject } from '../../../kit/json/is-json-object.ts'
import { randomBytes } from 'node:crypto'
import {
  ProtocolError,
  ProtocolErrorCode,
  createRequestStateCodec,
  inputRequired,
  type CallToolRequest,
  type InputRequests,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { canonicalJson } from '../../../kit/json/canonical-json.ts'
import { digest } from '../../../kit/json/digest.ts'
import { fromApprovalForm, toApprovalForm } from '../../translate/approval-form.ts'
import type { CallEvent, OpenCall } from './open-call.ts'
import { createSuspendedCalls, type Pending } from './suspended-calls.ts'

/** What a client carries while a call waits for its answer; it travels signed. */
export interface Ticket {
  ticket: string
}

/** A state of an upstream that goes through our hands; it travels signed too. */
export interface Passed {
  passed: string
}

export type RequestState = Ticket | Passed

type CallParams = CallToolRequest['params']

/**
 * Approvals of clients that cannot be asked over a connection: the client gets the question and a signed state, and asks for the
 * same call again with both the state and the answer. The call stays in memory meanwhile. A ticket works once, for
 * exactly this input, in this client session only, and no longer than the question waits. A state of an upstream that
 * is passed on is good for a day and in this client session only; how often it works is for the upstream to say.
 */
export interface RequestStates {
  /** Rejects for a state that was not signed here. */
  verify(state: string, context: ServerContext): Promise<RequestState>
  /** Signs the state of an upstream. */
  pass(state: string): Promise<string>
  /** The state of an upstream as it was. Throws a protocol error for one that is of a call here. */
  unwrap(state: RequestState): string
  /** What the client is told. Undefined if too many calls wait; the call is denied then. */
  pause(call: OpenCall, pending: Pending, params: CallParams): Promise<InputRequiredResult | undefined>
  /** The call that waited, with its answer given. Throws a protocol error for a ticket that holds no more. */
  resume(state: RequestState, params: CallParams, responses: { [key: string]: unknown } | undefined): OpenCall
}

const maxSuspendedCalls = 100
/** Longer than any approval waits: what ends a question is its own time-out. */
const ttlSeconds = 86_400

export function createRequestStates(): RequestStates {
  const suspended = createSuspendedCalls(maxSuspendedCalls)
  const states = createRequestStateCodec<RequestState>({ key: randomBytes(32), ttlSeconds })
  return {
    verify: (state, context) => states.verify(state, context),
    pass: (state) => states.mint({ passed: state }),
    unwrap(state) {
      if ('passed' in state) return state.passed
      throw wrongState('Ask anew without it.')
    },
    async pause(call, pending, params) {
      const ticket = suspended.suspend({ call, pending, inputDigest: digestOf(params) })
      if (ticket === undefined) {
        pending.refuse('too many calls wait for an answer')
        return undefined
      }
      return inputRequired({
        inputRequests: pending.requests,
        requestState: await states.mint({ ticket }),
      })
    },
    resume(state, params, responses) {
      const waiting = 'ticket' in state ? suspended.resume(state.ticket) : undefined
      if (waiting === undefined || waiting.inputDigest !== digestOf(params)) {
        waiting?.pending.refuse('the answer came with another call')
        throw wrongState('Call the tool anew without it.')
      }
      waiting.pending.accept(responses)
      return waiting.call
    },
  }
}

/** What a client that cannot be asked over a connection has to come back with. */
export function toPending(event: Exclude<CallEvent, { kind: 'ended' }>): Pending {
  if (event.kind === 'question') {
    const { question } = event
    return {
      requests: { approval: inputRequired.elicit(toApprovalForm(question.request)) },
      accept: (responses) => question.answer(fromApprovalForm(responses?.['approval'])),
      refuse: (reason) => question.answer({ decision: 'deny', reason }),
      isRunning: false,
    }
  }
  const { needs } = event
  return {
    // As their server wrote them.
    requests: needs.requests as unknown as InputRequests,
    accept: (responses) => needs.answer(readJsonObject(responses)),
    refuse: (reason) => needs.fail(new Error(`The client did not answer: ${reason}.`)),
    isRunning: true,
  }
}

function digestOf({ name, arguments: input }: CallParams): string {
  return digest(canonicalJson({ name, input: input ?? {} }))
}

function wrongState(instead: string): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `The requestState was used already, has expired or belongs to another call. ${instead}`,
    { reason: 'invalid_request_state' },
  )
}
