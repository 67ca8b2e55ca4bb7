import type { ApprovalAnswer, ApprovalRequest, Approver } from '../../../contract/approval.ts'
import type { CallRequest } from '../../../contract/call-request.ts'
import type { JsonObject } from '../../../contract/base/json.ts'
import type { PresentedTool } from '../../../contract/registry.ts'
import type { ToolResult } from '../../../contract/base/result.ts'
import { createProgress, type ProgressUpdate } from './create-progress.ts'

/** One request of the client that waits for a call: it can cancel the call and may want its progress. */
export interface Attachment {
  readonly signal: AbortSignal
  readonly onProgress: ((update: ProgressUpdate) => void) | undefined
}

/** A question of the runtime to the person, which the client has to bring. The first answer counts. */
export interface Question {
  readonly request: ApprovalRequest
  /** Aborted when the answer is no longer wanted. */
  readonly signal: AbortSignal
  answer(answer: ApprovalAnswer): void
  /** The question could not be put. */
  fail(error: unknown): void
}

/** A request to a client, as the protocol has it. */
export interface ClientRequest {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  readonly params: JsonObject
}

/** What a server needs from the client before its call goes on. */
export interface Needs {
  readonly requests: { readonly [key: string]: ClientRequest }
  /** Aborted when it is no longer needed. */
  readonly signal: AbortSignal
  /** What the client answered, by the same keys. */
  answer(responses: JsonObject): void
  /** It could not be had. */
  fail(error: unknown): void
}

/** What a call has to say next. */
export type CallEvent =
  | { readonly kind: 'needs'; readonly needs: Needs }
  | { readonly kind: 'question'; readonly question: Question }
  | { readonly kind: 'ended'; readonly result: ToolResult }

/** A call in the pipeline, as the client's requests see it: one request in the usual case, several when it stops to ask. */
export interface OpenCall {
  readonly tool: PresentedTool | undefined
  readonly ended: Promise<ToolResult>
  attach(attachment: Attachment): void
  /** From now on no request waits for the call; it goes on. */
  detach(): void
  next(): Promise<CallEvent>
  readonly ask: Approver
  /** Sends requests of a server to the client; resolves with its answers, by the same keys. */
  readonly sendRequests: (requests: Needs['requests'], signal: AbortSignal) => Promise<JsonObject>
  /** Whether the request that waits for it wants to know how far it is. */
  readonly wantsProgress: boolean
  /** Takes how far it is, for a request that wants to know. */
  readonly report: NonNullable<CallRequest['onProgress']>
}

/** Starts a call, not before the caller is done with its turn. `run` gets the signal that ends the call. */
export function openCall(
  tool: PresentedTool | undefined,
  run: (signal: AbortSignal) => Promise<ToolResult>,
): OpenCall {
  const controller = new AbortController()
  let attachment: Attachment | undefined
  const abort = (): void => controller.abort(attachment?.signal.reason)
  /** What its client is to be told, the oldest first. */
  const waiting: (CallEvent & { kind: 'needs' | 'question' })[] = []
  let emitted = Promise.withResolvers<void>()
  const toProgress = createProgress()

  const detach = (): void => {
    attachment?.signal.removeEventListener('abort', abort)
    attachment = undefined
  }
  const emit = (event: (typeof waiting)[number]): void => {
    waiting.push(event)
    emitted.resolve()
  }
  const ended = Promise.resolve(controller.signal).then(run)
  return {
    tool,
    ended,
    attach(next) {
      detach()
      attachment = next
      if (next.signal.aborted) controller.abort(next.signal.reason)
      else next.signal.addEventListener('abort', abort, { once: true })
    },
    detach,
    async next() {
      for (;;) {
        const result = await Promise.race([ended, emitted.promise])
        if (result !== undefined) return { kind: 'ended', result }
        const event = waiting.shift()
        if (waiting.length === 0) emitted = Promise.withResolvers<void>()
        if (event !== undefined && !isWithdrawn(event)) return event
      }
    },
    ask: (request, signal) => {
      const { question, answered } = createQuestion(request, signal)
      emit({ kind: 'question', question })
      return answered
    },
    sendRequests(requests, signal) {
      const { promise, resolve: answer, reject: fail } = Promise.withResolvers<JsonObject>()
      const giveUp = (): void => fail(new Error('The call ended before the client answered.'))
      if (signal.aborted) giveUp()
      else signal.addEventListener('abort', giveUp, { once: true })
      emit({ kind: 'needs', needs: { requests, signal, answer, fail } })
      return promise
    },
    get wantsProgress() {
      return attachment?.onProgress !== undefined
    },
    report(reported) {
      if (attachment?.onProgress === undefined) return
      const update = toProgress(reported)
      if (update !== undefined) attachment.onProgress(update)
    },
  }
}

function isWithdrawn(event: CallEvent & { kind: 'needs' | 'question' }): boolean {
  const { signal } = event.kind === 'needs' ? event.needs : event.question
  return signal.aborted
}

function createQuestion(
  request: ApprovalRequest,
  signal: AbortSignal,
): { question: Question; answered: Promise<ApprovalAnswer> } {
  const answered = Promise.withResolvers<ApprovalAnswer>()
  const unwanted = AbortSignal.any([signal, AbortSignal.timeout(request.timeoutMs)])
  const giveUp = (): void => answered.reject(new Error('No person answered in time.'))
  if (unwanted.aborted) giveUp()
  else unwanted.addEventListener('abort', giveUp, { once: true })
  return {
    question: { request, signal: unwanted, answer: answered.resolve, fail: answered.reject },
    answered: answered.promise,
  }
}
