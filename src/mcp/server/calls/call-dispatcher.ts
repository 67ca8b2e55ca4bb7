import {
  CLIENT_CAPABILITIES_META_KEY,
  type CallToolRequest,
  type InputRequiredResult,
  type Server,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import { readJsonObject } from '../../../kit/json/is-json-object.ts'
import { isPlainObject } from '../../../kit/json/is-plain-object.ts'
import { withinMs } from '../../../kit/time/within-ms.ts'
import { fromApprovalForm, toApprovalForm } from '../../translate/approval-form.ts'
import { createRequestStates, toPending, type RequestState } from './request-states.ts'
import type { CallContext } from './call-context.ts'
import type { CallEvent, Needs, OpenCall, Question } from './open-call.ts'
import { toAttachment } from './to-attachment.ts'
import { longestMs } from '../../../kit/time/longest-ms.ts'

/** `legacy`: handshake and sessions (to 2025-11-25). `modern`: 2026-07-28. */
export type Era = 'legacy' | 'modern'

/** A call that came to its end. */
export interface EndedCall {
  readonly call: OpenCall
  readonly result: ToolResult
}

/** A `tools/call` at work. */
export interface AskedHere {
  readonly request: Pick<CallToolRequest, 'params'>
  readonly context: CallContext
  /** The server that it came to, and how that speaks. */
  readonly server: Server
  readonly era: Era
}

/** How long a request waits for its call. */
export interface Patience {
  readonly ms: number
  /** Asked when they are over: whether the call may run on without its request. The request waits on where it may not. */
  readonly mayRunOn: () => boolean
}

/** A `tools/call` whose client takes a task where the call runs longer. Without patience it waits to the end. */
export interface AskedForAWhile extends AskedHere {
  readonly patience: Patience | undefined
}

/** A call that ran on when its request waited no longer. */
export interface RunningCall {
  readonly call: OpenCall
  /** What it says next. */
  readonly next: Promise<CallEvent>
}

/** Where the calls of one client are taken and followed to their end, over however many requests. */
export interface CallDispatcher {
  readonly requestStates: ReturnType<typeof createRequestStates>
  /** Begins a call, or takes up one that waited. Returns how it ended, or what the client has to come back with. */
  serve(asked: AskedForAWhile, begin: () => OpenCall): Promise<EndedCall | RunningCall | InputRequiredResult>
  serve(asked: AskedHere, begin: () => OpenCall): Promise<EndedCall | InputRequiredResult>
}

/** A dispatcher of one client. `log` takes what could not be told. */
export function createCallDispatcher(log: (line: string) => void): CallDispatcher {
  const requestStates = createRequestStates()
  const open = ({ request: { params }, context: { mcpReq } }: AskedHere, begin: () => OpenCall): OpenCall => {
    const state = mcpReq.requestState<RequestState>()
    return state === undefined ? begin() : requestStates.resume(state, params, mcpReq.inputResponses)
  }
  /** Legacy clients are asked over the connection, modern ones come back with the answer. */
  const follow = async (
    call: OpenCall,
    { request: { params }, context, era, patience }: AskedHere & Partial<AskedForAWhile>,
  ): Promise<EndedCall | RunningCall | InputRequiredResult> => {
    for (;;) {
      const next = call.next()
      const isLate = patience !== undefined && !(await withinMs(next, patience.ms))
      if (isLate && patience.mayRunOn()) return { call, next }
      const event = await next
      if (event.kind === 'ended') return { call, result: event.result }
      if (era === 'modern') {
        const pause = await requestStates.pause(call, toPending(event), params)
        if (pause !== undefined) return pause
      } else if (event.kind === 'question') await ask(event.question, context)
      else await sendAll(event.needs, context)
    }
  }
  function serve(
    asked: AskedForAWhile,
    begin: () => OpenCall,
  ): Promise<EndedCall | RunningCall | InputRequiredResult>
  function serve(asked: AskedHere, begin: () => OpenCall): Promise<EndedCall | InputRequiredResult>
  async function serve(asked: AskedHere, begin: () => OpenCall) {
    const call = open(asked, begin)
    call.attach(toAttachment(asked.context, log))
    try {
      return await follow(call, asked)
    } finally {
      call.detach()
    }
  }
  return { requestStates, serve }
}

/** What the client says that it can do. */
export function declaredBy({ server, context, era }: Omit<AskedHere, 'request'>): JsonObject {
  const declared: unknown =
    era === 'modern'
      ? Object(context.mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY]
      : server.getClientCapabilities()
  return readJsonObject(declared)
}

/** An elicitation capability that names no mode means forms. */
export function takesForms({ elicitation }: JsonObject): boolean {
  return isPlainObject(elicitation) && ('form' in elicitation || !('url' in elicitation))
}

/** Asks over the connection and waits. */
async function ask(question: Question, { mcpReq }: CallContext): Promise<void> {
  try {
    const answer = await mcpReq.send(
      { method: 'elicitation/create', params: toApprovalForm(question.request) },
      { signal: AbortSignal.any([question.signal, mcpReq.signal]), timeout: question.request.timeoutMs },
    )
    question.answer(fromApprovalForm(answer))
  } catch (error) {
    question.fail(error)
  }
}

/** Asks for all of it over the connection, one after the other, and waits. */
async function sendAll(needs: Needs, { mcpReq }: CallContext): Promise<void> {
  // The call's own time limit ends it.
  const options = { signal: AbortSignal.any([needs.signal, mcpReq.signal]), timeout: longestMs }
  try {
    const answers: JsonObject = {}
    for (const [key, { method, params }] of Object.entries(needs.requests))
      answers[key] = readJsonObject(await mcpReq.send({ method, params }, options))
    needs.answer(answers)
  } catch (error) {
    needs.fail(error)
  }
}
