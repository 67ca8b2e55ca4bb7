import { randomBytes } from 'node:crypto'
import {
  ProtocolError,
  ProtocolErrorCode,
  createRequestStateCodec,
  inputRequired,
  type CallToolRequest,
  type InputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { canonicalJson } from '../kit/canonical-json.ts'
import { digest } from '../kit/digest.ts'
import { fromApprovalForm, toApprovalForm } from '../mcp/approval-form.ts'
import type { OpenCall, Question } from './open-call.ts'
import { createParkedCalls } from './parked-calls.ts'

/** What a client carries while a call waits for its answer; it travels signed. */
export interface Ticket {
  ticket: string
}

type CallParams = CallToolRequest['params']

/**
 * Approvals of clients that cannot be asked over a connection: the client gets the question and a signed state, and asks for the
 * same call again with both the state and the answer. The call stays in memory meanwhile. A state works once, for
 * exactly this input, in this client session only, and no longer than the question waits.
 */
export interface ApprovalTickets {
  /** Rejects for a state that was not signed here. */
  verify(state: string, context: ServerContext): Promise<Ticket>
  /** What the client is told. Undefined where too many calls wait; the call is denied then. */
  pause(call: OpenCall, question: Question, params: CallParams): Promise<InputRequiredResult | undefined>
  /** The call that waited, with its answer given. Throws a protocol error for a ticket that holds no more. */
  resume(ticket: Ticket, params: CallParams, responses: { [key: string]: unknown } | undefined): OpenCall
}

const maxParkedCalls = 100
/** Longer than any approval waits: what ends a question is its own time-out. */
const ttlSeconds = 86_400

export function createApprovalTickets(): ApprovalTickets {
  const parked = createParkedCalls(maxParkedCalls)
  const states = createRequestStateCodec<Ticket>({ key: randomBytes(32), ttlSeconds })
  return {
    verify: (state, context) => states.verify(state, context),
    async pause(call, question, params) {
      const ticket = parked.park({ call, question, inputDigest: digestOf(params) })
      if (ticket === undefined) {
        question.answer({ decision: 'deny', reason: 'too many calls wait for an answer' })
        return undefined
      }
      return inputRequired({
        inputRequests: { approval: inputRequired.elicit(toApprovalForm(question.request)) },
        requestState: await states.mint({ ticket }),
      })
    },
    resume({ ticket }, params, responses) {
      const waiting = parked.take(ticket)
      if (waiting === undefined || waiting.inputDigest !== digestOf(params)) {
        waiting?.question.answer({ decision: 'deny', reason: 'the answer came with another call' })
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          'The requestState was used already, has expired or belongs to another call. Call the tool anew without it.',
          { reason: 'invalid_request_state' },
        )
      }
      waiting.question.answer(fromApprovalForm(responses?.['approval']))
      return waiting.call
    },
  }
}

function digestOf({ name, arguments: input }: CallParams): string {
  return digest(canonicalJson({ name, input: input ?? {} }))
}
